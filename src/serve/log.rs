//! The log: to the standard error, as text or JSON, by a thread of its own. A pipe that nobody empties, or a disk that hangs,
//! loses lines, which are counted, and stops no step.

use std::io::{self, IsTerminal, Write};

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::Resource;
use bevy_log::{BoxedFmtLayer, LogPlugin, tracing_subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};

use super::settings::LogFormat;

/// The transport's crates log what any stranger sends, line by line; what matters of it the server says itself.
const FILTER: &str = "info,renet=off,renetcode=off";

/// Lines that may wait to be written; what comes then is lost.
const MOST_LINES: usize = 16 * 1024;

/// What writes the log. What waits is written when it is dropped, if that takes no longer than a second.
pub(super) struct Log {
    _writes: WorkerGuard,
    /// Lines that were lost.
    pub(super) lost: ErrorCounter,
}

/// What is written to, for the layers.
#[derive(Resource)]
struct Out(NonBlocking);

/// Begins to log.
pub(super) fn start(format: LogFormat) -> Log {
    let fmt_layer = match format {
        LogFormat::Text => text,
        LogFormat::Json => json,
    };
    let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(MOST_LINES).thread_name("log");
    let (out, writes) = builder.finish(io::stderr());
    let lost = out.error_counter();
    let plugin = LogPlugin { filter: FILTER.to_owned(), fmt_layer, ..LogPlugin::default() };
    plugin.build(App::new().insert_resource(Out(out)));
    Log { _writes: writes, lost }
}

/// For people, with colours only where one looks at it.
fn text(app: &mut App) -> Option<BoxedFmtLayer> {
    let (colours, Out(out)) = (io::stderr().is_terminal(), app.world_mut().remove_resource()?);
    Some(Box::new(tracing_subscriber::fmt::layer().with_ansi(colours).with_writer(out)))
}

/// For machines: one object a line.
fn json(app: &mut App) -> Option<BoxedFmtLayer> {
    let Out(out) = app.world_mut().remove_resource()?;
    let writer = move || Escaped(out.clone());
    Some(Box::new(tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(writer)))
}

/// Writes control characters that JSON leaves as they are, U+007F to U+009F, as escapes: terminals obey some. Whoever writes an event
/// writes it whole.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = String::with_capacity(bytes.len());
        for letter in String::from_utf8_lossy(bytes).chars() {
            match letter {
                '\u{7f}'..='\u{9f}' => text.push_str(&format!("\\u{:04x}", u32::from(letter))),
                letter => text.push(letter),
            }
        }
        self.0.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use bevy_log::info;
    use bevy_log::tracing_subscriber::fmt::MakeWriter;
    use bevy_log::tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Kept {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn what_a_client_calls_itself_is_one_line_and_moves_no_cursor() {
        let name = "ann\n2026-01-01 ERROR \u{1b}[2J\r\u{7}\u{9b}31m\"";
        for format in [LogFormat::Text, LogFormat::Json] {
            let kept = Kept::default();
            let layer = tracing_subscriber::fmt::layer().with_ansi(false);
            let log = || info!(name, reason = name.to_owned(), "refused");
            match format {
                LogFormat::Text => {
                    let layer = layer.with_writer(kept.clone());
                    bevy_log::tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
                }
                LogFormat::Json => {
                    let writer = kept.clone();
                    let layer = layer.json().flatten_event(true).with_writer(move || Escaped(writer.clone()));
                    bevy_log::tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
                }
            }
            let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
            assert!(text.contains("ann") && text.lines().count() == 1, "{text:?}");
            assert!(!text.trim_end().chars().any(char::is_control), "{text:?}");
        }
    }
}
