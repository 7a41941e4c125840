//! `keel save`: the world on disk, looked at, copied, told as text and brought forward.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use keel_rules::STEPS_PER_SECOND;
use keel_server::saves::{
    self, Contents, DumpError, Files, Inspection, MIGRATIONS, Migrated, Old, Restored, SAVE_VERSION, SaveError,
};
use keel_server::{LoadError, StartError};
use keel_sim::RestoreError;

use crate::data::Data;
use crate::serve::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    data: Data,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say what the save holds, also while a server runs
    Info,
    /// Read every row of the save and of all kept copies, and hold it against its checksum, also while a server runs
    Check,
    /// Copy the save into a file, also while a server runs
    Backup {
        /// The file, which must not be there yet
        file: PathBuf,
    },
    /// Make the file of a backup, or a kept copy, the save
    Restore {
        /// The file
        file: PathBuf,
        /// Put it in the place of the save that there is, which is put aside
        #[arg(long)]
        force: bool,
    },
    /// Write the save as JSON, one row a line, also while a server runs
    Export {
        /// The file, which must not be there yet, or - for the standard output
        file: PathBuf,
    },
    /// Make a save of what was exported
    Import {
        /// The file, or - for the standard input
        file: PathBuf,
        /// Put it in the place of the save that there is, which is put aside
        #[arg(long)]
        force: bool,
    },
    /// Bring the save of an older version forward, as a server does when it starts
    Migrate {
        /// Do all of it in memory, say what would come out, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let data = args.data.directory()?;
    match &args.command {
        Command::Info => info(&data),
        Command::Check => check(&data),
        Command::Backup { file } => {
            let meta = saves::backup(&data, file)?;
            say(&format!("{} has {} rows, as of step {}.", file.display(), meta.rows, meta.step));
            Ok(())
        }
        Command::Restore { file, force } => restore(&data, file, *force),
        Command::Export { file } => export(&data, file),
        Command::Import { file, force } => import(&data, file, *force),
        Command::Migrate { dry_run } => migrate(&data, *dry_run),
    }
}

fn info(data: &Path) -> anyhow::Result<()> {
    let found = saves::inspect(data)?;
    let path = Files::of(data).save();
    let contents = found.save.map_err(|fault| fault.of(&path))?;
    say(&format!("{}, {}", path.display(), size(found.bytes)));
    if let Some(holder) = found.holder {
        say(&format!("  in use by {}", holder.map_or_else(|| "a server".to_owned(), |pid| format!("process {pid}"))));
    }
    for line in told(&contents) {
        say(&line);
    }
    for (kind, (rows, bytes)) in &contents.kinds {
        say(&format!("  {kind:<16} {rows:>9} rows  {:>10}", size(*bytes)));
    }
    for kept in &found.kept {
        let what = kept.save.as_ref().map_or_else(ToString::to_string, brief);
        say(&format!("  copy {}, {}: {what}", kept.path.display(), size(kept.bytes)));
    }
    Ok(())
}

/// What a save says of itself.
fn told(contents: &Contents) -> Vec<String> {
    let mut lines = vec![format!("  version   {}", contents.version)];
    if let Some(meta) = &contents.meta {
        let minutes = meta.step / (60 * u64::from(STEPS_PER_SECOND));
        let clean = if meta.is_clean { "in order" } else { "not in order, or not yet" };
        lines.extend([
            format!("  step      {} ({} h {:02} min of play)", meta.step, minutes / 60, minutes % 60),
            format!("  seed      {}", meta.seed),
            format!("  written   {} by keel {}", meta.written(), meta.game),
            format!("  closed    {clean}"),
            format!("  rows      {}", meta.rows),
        ]);
    }
    lines
}

fn brief(contents: &Contents) -> String {
    match &contents.meta {
        Some(meta) => format!("whole, number {}, step {}, written {}", meta.generation, meta.step, meta.written()),
        None => format!("whole, version {}", contents.version),
    }
}

fn check(data: &Path) -> anyhow::Result<()> {
    let Inspection { save, kept, .. } = saves::inspect(data)?;
    let path = Files::of(data).save();
    let all = std::iter::once((path, save)).chain(kept.into_iter().map(|kept| (kept.path, kept.save)));
    let mut first = None;
    for (path, found) in all {
        match found {
            Ok(contents) => say(&format!("{} is {}.", path.display(), brief(&contents))),
            Err(fault) => {
                say(&format!("{}: {fault}.", path.display()));
                first.get_or_insert((path, fault));
            }
        }
    }
    match first {
        None => Ok(()),
        Some((path, fault)) => Err(fault.of(&path).into()),
    }
}

fn export(data: &Path, file: &Path) -> anyhow::Result<()> {
    if file == Path::new("-") {
        saves::export(data, BufWriter::new(io::stdout().lock())).map_err(plain)?;
        return Ok(());
    }
    let refused = || format!("cannot write {}", file.display());
    let out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).with_context(refused)?;
    let rows = saves::export(data, BufWriter::new(&out)).map_err(|error| {
        // Half a text is of no use; the error is what counts.
        let _ = std::fs::remove_file(file);
        plain(error)
    })?;
    out.sync_all().with_context(refused)?;
    say(&format!("{} has {rows} rows.", file.display()));
    Ok(())
}

fn import(data: &Path, file: &Path, is_forced: bool) -> anyhow::Result<()> {
    let imported = if file == Path::new("-") {
        if io::stdin().is_terminal() {
            bail!("the standard input is a terminal");
        }
        saves::import(data, io::stdin().lock(), is_forced).map_err(plain)?
    } else {
        let text = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
        saves::import(data, BufReader::new(text), is_forced).map_err(plain)?
    };
    say(&format!("{} has {} rows.", Files::of(data).save().display(), imported.rows));
    say_before(imported.before);
    Ok(())
}

fn restore(data: &Path, file: &Path, is_forced: bool) -> anyhow::Result<()> {
    let Restored { contents, before } = saves::restore(data, file, is_forced)?;
    say(&format!("{}:", Files::of(data).save().display()));
    told(&contents).iter().for_each(|line| say(line));
    if contents.version < SAVE_VERSION {
        say(&format!("A server that starts on it brings it forward to version {SAVE_VERSION}."));
    }
    say_before(before);
    Ok(())
}

fn say_before(before: Option<PathBuf>) {
    if let Some(before) = before {
        say(&format!("What was there before is {}.", before.display()));
    }
}

fn migrate(data: &Path, is_rehearsal: bool) -> anyhow::Result<()> {
    let Some(old) = Old::find(data)? else {
        say(&format!("{} is of version {SAVE_VERSION} already.", Files::of(data).save().display()));
        return Ok(());
    };
    let from = old.version();
    let Migrated { before, after, backup } =
        if is_rehearsal { old.rehearse(MIGRATIONS)? } else { old.migrate(MIGRATIONS)?.1 };
    let would = if is_rehearsal { "would be" } else { "is" };
    say(&format!("The save of version {from} {would} one of version {SAVE_VERSION}:"));
    let kinds = before.kinds.keys().chain(after.kinds.keys()).collect::<std::collections::BTreeSet<_>>();
    for kind in kinds {
        let rows = |contents: &Contents| contents.kinds.get(kind).map_or(0, |(rows, _)| *rows);
        say(&format!("  {kind:<16} {:>9} rows, then {:>9}", rows(&before), rows(&after)));
    }
    if let Some(backup) = backup {
        say(&format!("The old one is {}.", backup.display()));
    }
    Ok(())
}

/// The save's error where it is one, so that its exit code is found.
fn plain(error: DumpError) -> anyhow::Error {
    match error {
        DumpError::Save(error) => error.into(),
        error => error.into(),
    }
}

/// The exit code that tells a script what is wrong with a save; `None` if something else is wrong.
pub(crate) fn exit_code(error: &anyhow::Error) -> Option<u8> {
    let of_save = |error: &SaveError| match error {
        SaveError::Newer { .. } => 3,
        SaveError::Broken { .. } | SaveError::Migration { .. } => 4,
        SaveError::Locked { .. } | SaveError::Read(_) => 5,
        _ => 1,
    };
    match error.downcast_ref() {
        Some(StartError::Load(LoadError::Save(error))) => Some(of_save(error)),
        // Another balance makes a world of it, and another save would only be an older one.
        Some(StartError::Load(LoadError::World(RestoreError::NoClass(_) | RestoreError::Unfit { .. }))) => Some(6),
        Some(StartError::Load(_)) => Some(4),
        _ => error.downcast_ref().map(of_save),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use keel_rules::{ClassId, FitError};
    use keel_sim::ShipId;

    use super::*;

    #[test]
    fn a_balance_that_makes_no_world_of_a_save_is_told_from_a_save_that_is_broken() {
        let code = |error: LoadError| exit_code(&anyhow::Error::from(StartError::from(error)));
        let row = LoadError::Row { kind: "ship".to_owned(), id: 1, reason: "it is none".to_owned() };
        for (error, expected) in [
            (RestoreError::NoClass("Frigate".to_owned()).into(), 6),
            (RestoreError::Unfit { ship: ShipId(1), error: FitError::UnknownClass(ClassId(9)) }.into(), 6),
            (RestoreError::NoWorld.into(), 4),
            (row, 4),
            (SaveError::Missing(PathBuf::new()).into(), 1),
            (SaveError::Read(PathBuf::new()).into(), 5),
        ] {
            assert_eq!(code(error), Some(expected));
        }
    }
}
