//! The log: to the standard error, as text or JSON.

use std::io::IsTerminal;

use bevy_app::{App, Plugin};
use bevy_log::{BoxedFmtLayer, LogPlugin, tracing_subscriber};

use super::settings::LogFormat;

/// The transport's crates log what any stranger sends, line by line; what matters of it the server says itself.
const FILTER: &str = "info,renet=off,renetcode=off";

/// Begins to log.
pub(super) fn start(format: LogFormat) {
    let fmt_layer = match format {
        LogFormat::Text => text,
        LogFormat::Json => json,
    };
    LogPlugin { filter: FILTER.to_owned(), fmt_layer, ..LogPlugin::default() }.build(&mut App::new());
}

/// For people, with colours only where one looks at it.
fn text(_: &mut App) -> Option<BoxedFmtLayer> {
    let colours = std::io::stderr().is_terminal();
    Some(Box::new(tracing_subscriber::fmt::layer().with_ansi(colours).with_writer(std::io::stderr)))
}

/// For machines: one object a line.
fn json(_: &mut App) -> Option<BoxedFmtLayer> {
    Some(Box::new(tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(std::io::stderr)))
}
