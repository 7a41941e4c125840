//! Where settings come from: defaults, the settings file, the environment and flags, each over the ones before.
//!
//! A layer is the texts it gives to settings, whatever their type. Each text is checked by the one parser there is, the
//! flags', so that a value is right or wrong wherever it comes from, and the error can name the place.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::file;
use super::settings::Settings;

/// What the environment's variables begin with.
const PREFIX: &str = "KEEL_";

/// The settings file that is read if there is one.
const FILE: &str = "keel.ron";

/// Texts by setting; a list has several.
pub(super) type Texts = BTreeMap<String, Vec<OsString>>;

/// What was said on the command line, and nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags(Texts);

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        Settings::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Settings::augment_args_for_update(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let command = command();
        let said = |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let texts = command.get_arguments().filter(said).map(|arg| {
            let texts = matches.get_raw(arg.get_id().as_str()).unwrap_or_default();
            (arg.get_id().to_string(), texts.map(OsStr::to_owned).collect())
        });
        Ok(Self(texts.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    /// The file, and the line.
    File(PathBuf, usize),
    /// The variable.
    Environment(String),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// Settings, and where each comes from.
#[derive(Clone, Debug)]
pub(crate) struct Layered {
    pub(crate) settings: Settings,
    /// In the order of [`Settings`].
    values: Vec<(String, Vec<OsString>, Origin)>,
}

/// Lays the layers over each other. `config` is the file that was asked for on the command line; `variable` is the
/// environment.
///
/// # Errors
/// With one line that names the place of the first value that is none.
pub(crate) fn settings(
    flags: &Flags,
    config: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> anyhow::Result<Layered> {
    let command = command();
    let mut layers: BTreeMap<String, (Vec<OsString>, Origin)> = BTreeMap::new();
    for arg in command.get_arguments() {
        let texts = arg.get_default_values().iter().map(|text| OsString::from(text.as_os_str())).collect();
        layers.insert(arg.get_id().to_string(), (texts, Origin::Default));
    }
    let mut environment = BTreeMap::new();
    for arg in command.get_arguments() {
        let name = variable_of(arg);
        if let Some(text) = variable(&name) {
            check(arg, std::slice::from_ref(&text)).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
            environment.insert(arg.get_id().to_string(), (vec![text], Origin::Environment(name)));
        }
    }
    let flags = flags.0.iter().map(|(id, texts)| (id.clone(), (texts.clone(), Origin::Flag(flag(id)))));
    let above: BTreeMap<_, _> = environment.into_iter().chain(flags).collect();
    // The directory of the data says where the file is, so the file cannot say where that is.
    let config = config.map(Path::to_owned).or_else(|| variable(&format!("{PREFIX}CONFIG")).map(PathBuf::from));
    let data = above.get("data").or(layers.get("data")).and_then(|(texts, _)| texts.first());
    let path = config.clone().or_else(|| Some(Path::new(data?).join(FILE)).filter(|path| path.exists()));
    if let Some(path) = path {
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read the settings file {}", path.display()))?;
        for entry in file::read(&path, &text, &command)? {
            if entry.id == "data" && config.is_none() {
                bail!("{}:{}: data: the file lies in that directory, and cannot move it", path.display(), entry.line);
            }
            layers.insert(entry.id, (entry.texts, Origin::File(path.clone(), entry.line)));
        }
    }
    layers.extend(above);
    let values: Vec<_> = command
        .get_arguments()
        .filter_map(|arg| layers.remove_entry(arg.get_id().as_str()))
        .map(|(id, (texts, origin))| (id, texts, origin))
        .collect();
    let given = values.iter().flat_map(|(id, texts, _)| texts.iter().map(|text| said(&flag(id), text)));
    let matches = command.try_get_matches_from(given.collect::<Vec<_>>())?;
    Ok(Layered { settings: Settings::from_arg_matches(&matches)?, values })
}

impl fmt::Display for Layered {
    /// A line for each setting: what it is called, what it is, and where that comes from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |texts: &[OsString]| {
            let texts: Vec<_> = texts.iter().map(|text| text.to_string_lossy().escape_debug().to_string()).collect();
            if texts.is_empty() { "-".to_owned() } else { texts.join(",") }
        };
        let rows: Vec<_> = self.values.iter().map(|(id, texts, origin)| (id, text(texts), origin)).collect();
        let widest = |width: &dyn Fn(&(&String, String, &Origin)) -> usize| rows.iter().map(width).max().unwrap_or(0);
        let (first, second) = (widest(&|row| row.0.len()), widest(&|row| row.1.chars().count()));
        for (index, (id, text, origin)) in rows.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{id:first$}  {text:second$}  {origin}")?;
        }
        Ok(())
    }
}

/// The parser of settings alone.
fn command() -> Command {
    Settings::augment_args(Command::new("keel").no_binary_name(true).disable_help_flag(true))
}

fn flag(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

fn variable_of(arg: &Arg) -> String {
    format!("{PREFIX}{}", arg.get_id().as_str().to_ascii_uppercase())
}

fn said(flag: &str, text: &OsStr) -> OsString {
    let mut said = OsString::from(flag);
    said.push("=");
    said.push(text);
    said
}

/// Whether texts are values of a setting; else why not.
pub(super) fn check(arg: &Arg, texts: &[OsString]) -> Result<(), String> {
    let given = texts.iter().map(|text| said(&flag(arg.get_id().as_str()), text));
    let Err(error) = command().try_get_matches_from(given) else { return Ok(()) };
    let value = match error.get(ContextKind::InvalidValue) {
        Some(value) if error.kind() != ErrorKind::InvalidUtf8 => value.to_string(),
        _ => texts.iter().map(|text| text.to_string_lossy()).collect::<Vec<_>>().join(","),
    };
    let allowed = error.get(ContextKind::ValidValue).map(|allowed| format!("it is one of {allowed}"));
    let reason = std::error::Error::source(&error).map(ToString::to_string).or(allowed);
    let reason = reason.unwrap_or_else(|| "no such value".to_owned());
    Err(format!("\"{}\" cannot be: {reason}", value.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(said: &[&str]) -> Flags {
        Flags::from_arg_matches(&command().try_get_matches_from(said).unwrap()).unwrap()
    }

    fn laid(said: &[&str], file: Option<&str>, variables: &[(&str, &str)]) -> Result<Layered, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.ron");
        if let Some(text) = file {
            std::fs::write(&path, text).unwrap();
        }
        let variable = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, text)| text.into());
        settings(&flags(said), file.map(|_| path.as_path()), variable)
            .map_err(|error| format!("{error:#}").replace(&path.display().to_string(), "s.ron"))
    }

    fn origin(layered: &Layered, id: &str) -> String {
        let (.., origin) = layered.values.iter().find(|(other, ..)| other == id).unwrap();
        match origin {
            Origin::File(_, line) => format!("line {line}"),
            other => other.to_string(),
        }
    }

    #[test]
    fn each_layer_lies_over_the_ones_before_for_every_setting() {
        let values = [
            ("bind", ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]),
            ("unsecured", ["true", "false", "true"]),
            ("login", ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]),
            ("login_certificate", ["a.pem", "b.pem", "c.pem"]),
            ("login_key", ["a.key", "b.key", "c.key"]),
            ("trusted_proxies", ["10.0.0.1", "10.0.0.2,10.0.0.3", "10.0.0.0/8"]),
            ("login_seconds", ["2", "3", "4"]),
            ("public", ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]),
            ("name", ["one", "two", "three"]),
            ("data", ["a", "b", "c"]),
            ("ephemeral", ["true", "false", "true"]),
            ("save_steps", ["2", "3", "4"]),
            ("save_copies", ["2", "4", "5"]),
            ("save_copy_minutes", ["2", "3", "4"]),
            ("save_behind_seconds", ["2", "3", "4"]),
            ("balance", ["a.ron", "b.ron", "c.ron"]),
            ("watch_balance", ["false", "true", "false"]),
            ("layer", ["2", "3", "4"]),
            ("seed", ["2", "3", "4"]),
            ("max_clients", ["2", "3", "4"]),
            ("threads", ["2", "3", "4"]),
            ("snapshot_bytes", ["2000", "3000", "4000"]),
            ("operator_ops", ["true", "false", "true"]),
            ("storm_clock", ["2026-01-31T12:10:00Z", "1970-01-01T00:00:00Z", "2026-01-31T12:10:00+01:00"]),
            ("metrics", ["off", "127.0.0.1:1", "127.0.0.1:2"]),
            ("admin", ["off", "socket", "127.0.0.1:1"]),
            ("admin_token_file", ["a", "b", "c"]),
            ("log_format", ["json", "text", "json"]),
        ];
        let command = command();
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            let Some((_, [in_file, in_environment, in_flag])) = values.iter().find(|(other, _)| *other == id) else {
                panic!("the setting {id} has no row here")
            };
            let bare = in_file.parse::<f64>().is_ok() || in_file.parse::<bool>().is_ok();
            let file = format!("(\n {id}: {},)", if bare { (*in_file).to_owned() } else { format!("{in_file:?}") });
            let (variable, said) = (variable_of(arg), format!("{}={in_flag}", flag(id)));
            let variables = [(variable.as_str(), *in_environment)];
            let of = |layered: &Layered| {
                let (_, texts, _) = layered.values.iter().find(|(other, ..)| other == id).unwrap();
                let text = texts.first().map(|text| text.to_str().unwrap().to_owned());
                (text.unwrap_or_default(), origin(layered, id))
            };
            let expect = |layered: Result<Layered, String>, text: &str, from: &str| {
                assert_eq!(of(&layered.unwrap()), (text.to_owned(), from.to_owned()), "{id}");
            };
            let default = arg.get_default_values().first().and_then(|text| text.to_str());
            let bare = laid(&[], None, &[]).unwrap();
            let (_, texts, _) = bare.values.iter().find(|(other, ..)| other == id).unwrap();
            assert_eq!(
                (texts.first().and_then(|text| text.to_str()), origin(&bare, id)),
                (default, "default".to_owned())
            );
            expect(laid(&[], Some(&file), &[]), in_file, "line 2");
            expect(laid(&[], Some(&file), &variables), in_environment, &variable);
            expect(laid(&[&said], Some(&file), &variables), in_flag, &flag(id));
        }
    }

    #[test]
    fn what_is_laid_together_is_what_the_server_is_set_to() {
        let file = "(layer: 3, unsecured: true, log_format: json, threads: 2)";
        let layered = laid(&["--seed=9", "--operator-ops"], Some(file), &[("KEEL_THREADS", "4")]).unwrap();
        let Settings { layer, unsecured, log_format, threads, seed, operator_ops, .. } = layered.settings;
        assert_eq!((layer, unsecured, threads, seed, operator_ops), (3, true, 4, 9, true));
        assert_eq!(log_format, super::super::settings::LogFormat::Json);
    }

    #[test]
    fn a_bad_value_names_its_place() {
        for (file, error) in [
            ("(\n  bnid: 1)", "s.ron:2:3: there is no setting bnid; bind is one"),
            ("(\n  seed: 1,\n  print_config: true)", "s.ron:3:3: there is no setting print_config"),
            ("(bind: \"here\")", "s.ron:1:8: bind: \"here\" cannot be: invalid socket address syntax"),
            ("(seed: 1,\n seed: 2)", "s.ron:2:2: seed stands here twice"),
            ("(seed: -1)", "s.ron:1:8: seed: \"-1\" cannot be: invalid digit found in string"),
            ("(threads: 0)", "s.ron:1:11: threads: \"0\" cannot be: 0 is not in 1..=256"),
            ("(storm_clock: \"noon\")", "s.ron:1:15: storm_clock: \"noon\" cannot be: "),
            (
                "(storm_clock: \"1969-12-31T23:59:59Z\")",
                "s.ron:1:15: storm_clock: \"1969-12-31T23:59:59Z\" cannot be: it lies before 1970",
            ),
            ("(log_format: \"xml\")", "s.ron:1:14: log_format: \"xml\" cannot be: it is one of text, json"),
            ("(name: \"a\\nb\")", "s.ron:1:8: name: \"a\\nb\" cannot be: a server's name has no control characters"),
            ("(name: {1: 2})", "s.ron:1:8: name: a setting is a number, a text, true, false or a list of those"),
            ("(layer: 1", "s.ron:1:9: Expected comma"),
            ("(layer: )", "s.ron:1:9: "),
            ("", "s.ron:1:1: "),
            ("(layer: 1) more", "s.ron:1:11: "),
        ] {
            let found = laid(&[], Some(file), &[]).map(|layered| layered.to_string()).unwrap_err();
            assert!(found.starts_with(error), "{file:?}: {found}");
            assert_eq!(found.lines().count(), 1, "{found}");
        }
        for (name, text, error) in [
            ("KEEL_BIND", "", "KEEL_BIND: \"\" cannot be: "),
            ("KEEL_SEED", "many", "KEEL_SEED: \"many\" cannot be: invalid digit found in string"),
            ("KEEL_UNSECURED", "perhaps", "KEEL_UNSECURED: \"perhaps\" cannot be: it is one of true, false"),
        ] {
            let found = laid(&[], None, &[(name, text)]).map(|layered| layered.to_string()).unwrap_err();
            assert!(found.starts_with(error), "{name}: {found}");
            assert_eq!(found.lines().count(), 1, "{found}");
        }
    }

    #[test]
    fn the_file_of_the_data_directory_is_read_and_cannot_move_it() {
        let directory = tempfile::tempdir().unwrap();
        let data = format!("--data={}", directory.path().display());
        let read = || settings(&flags(&[&data]), None, |_| None);
        assert_eq!(read().unwrap().settings.layer, 1, "no file is no fault");
        let path = directory.path().join("keel.ron");
        std::fs::write(&path, "(layer: 5)").unwrap();
        assert_eq!(read().unwrap().settings.layer, 5);
        std::fs::write(&path, "(data: \"elsewhere\")").unwrap();
        assert!(
            read().unwrap_err().to_string().ends_with(":1: data: the file lies in that directory, and cannot move it")
        );
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read().unwrap_err().to_string().starts_with("cannot read the settings file "));
        let missing = settings(&flags(&[]), Some(Path::new("no/such.ron")), |_| None).unwrap_err();
        assert_eq!(missing.to_string(), "cannot read the settings file no/such.ron");
    }

    #[test]
    fn no_setting_is_a_secret() {
        for arg in command().get_arguments() {
            let id = arg.get_id().as_str();
            let names_one = ["secret", "password", "token"].iter().any(|word| id.contains(word));
            assert!(!names_one || id.ends_with("_file"), "{id}: give the file that it lies in");
        }
    }
}
