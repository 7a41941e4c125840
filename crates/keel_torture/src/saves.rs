//! Saves that something has spoilt: a file by its bytes, as a disk does it, and the text of one by its numbers and lines, as
//! people do it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keel_server::saves::{self, Opened, Store};
use keel_server::{Config, LoadError, Request, SaveConfig, StartError};

use crate::arena::{Arena, config};
use crate::balance::NUMBERS;
use crate::{Choices, orders};

/// Steps that a world runs before its save is taken, and that each world of a spoilt one runs.
const BEFORE: u64 = 300;
const AFTER: u64 = 25;

/// What is put where a number of either kind was, most of the time: what is of the same kind gets farther.
const FLOATS: [&str; 8] = ["0.0", "-1.0", "0.5", "1000000.0", "1e-45", "3.4028235e38", "-3.4028235e38", "16777216.5"];
const WHOLE: [&str; 12] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "100",
    "255",
    "65535",
    "1000000",
    "4294967295",
    "9223372036854775807",
    "18446744073709551615",
];

/// Saves as they were, and a directory for what is made of them.
pub struct Range {
    directory: tempfile::TempDir,
    /// The files that the game ships, and their rows as far as they are of this version.
    files: Vec<(Vec<u8>, Rows)>,
    /// A world in which pilots have been, a line for each row.
    text: Vec<String>,
    /// Texts of which a world was made.
    pub worlds: u64,
    /// Texts that were refused.
    pub refused: u64,
}

/// Rows by kind and number.
type Rows = BTreeMap<(String, u64), Vec<u8>>;

fn saved(data: &Path) -> Config {
    Config { operator_ops: true, layer: 3, save: Some(SaveConfig::of(data.to_owned())), ..config() }
}

fn rows(store: &Store) -> Result<Rows, LoadError> {
    let mut rows = Rows::new();
    store.each(|kind, id, data| {
        rows.insert((kind.to_owned(), id), data.to_owned());
        Ok::<_, LoadError>(())
    })?;
    Ok(rows)
}

impl Default for Range {
    fn default() -> Self {
        let directory = tempfile::tempdir().expect("a place for files");
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/saves");
        let files = ["version-1.sqlite", "version-2.sqlite"].map(|name| {
            let file = fs::read(samples.join(name)).expect("a sample");
            let rows = match Store::open(&place(directory.path(), &file)) {
                Ok(Opened::Whole(store)) => rows(&store).expect("a whole sample"),
                _ => Rows::new(),
            };
            (file, rows)
        });
        let data = place(directory.path(), b"");
        fs::remove_file(data.join("world.sqlite")).expect("a file that was made");
        let text = played(&data);
        Self { directory, files: files.into(), text, worlds: 0, refused: 0 }
    }
}

/// A data directory with that save and nothing else, in the place of all that were before it.
fn place(directory: &Path, save: &[u8]) -> PathBuf {
    for before in fs::read_dir(directory).expect("a directory") {
        // A server that has ended may still write the last of it: then the next one sees to it.
        let _ = before.map(|before| fs::remove_dir_all(before.path()));
    }
    let data = tempfile::tempdir_in(directory).expect("room for a directory").keep();
    fs::write(data.join("world.sqlite"), save).expect("room for a file");
    data
}

/// The save of a world in which three pilots have given every kind of order.
fn played(data: &Path) -> Vec<String> {
    let mut arena = Arena::new(&saved(data));
    let mut pilots: Vec<_> = (1..=3).map(|id| arena.pilot(id, &format!("pilot{id}"))).collect();
    let bytes = crate::choices::seeded(7, 1 << 16);
    let mut choices = Choices::new(&bytes);
    for n in 0..BEFORE {
        let who = n as usize % pilots.len();
        pilots[who].order(orders::any(&mut choices));
        for pilot in &mut pilots {
            pilot.turn();
        }
        arena.step();
    }
    let _answered = arena.server.handle().console.ask(Request::Save).expect("a console");
    arena.step();
    // No further step, or it would depend on the disk what is in it.
    let last = arena.server.steps();
    let saved = || Some(saves::inspect(data).ok()?.save.ok()?.meta?.step);
    while saved() != Some(last) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut text = Vec::new();
    saves::export(data, &mut text).expect("a save");
    String::from_utf8(text).expect("a text").lines().map(str::to_owned).collect()
}

impl Range {
    /// Spoils one of the two, and has a server take it up.
    ///
    /// # Panics
    /// When a spoilt file is taken for what it is not, or a world that was made of a text does not go on.
    pub fn run(&mut self, bytes: &[u8]) {
        let mut choices = Choices::new(bytes);
        if choices.once_in(4) { self.file(&mut choices) } else { self.text(&mut choices) }
    }

    /// A file of which some bytes are others: it is refused, or what is read is what was written.
    fn file(&self, choices: &mut Choices<'_>) {
        let (file, written) = &self.files[choices.below(self.files.len())];
        let mut file = file.clone();
        for _ in 0..=choices.below(4) {
            choices.spoil(&mut file);
        }
        if let Ok(Opened::Whole(store)) = Store::open(&place(self.directory.path(), &file))
            && let Ok(read) = rows(&store)
        {
            assert!(read == *written, "a spoilt file was read as something else");
        }
    }

    /// A text in which some numbers and lines are others, with the sums of what it says now: a world is made of it that goes
    /// on, or none.
    fn text(&mut self, choices: &mut Choices<'_>) {
        let mut text = self.text.clone();
        for _ in 0..=choices.below(3) {
            spoil(&mut text, choices);
        }
        let data = place(self.directory.path(), b"");
        // The first line says how many there are.
        let count = format!("\"rows\":{}}}", text.len() - 1);
        if let Some(at) = text[0].rfind("\"rows\":") {
            text[0].replace_range(at.., &count);
        }
        let imported = saves::import(&data, text.join("\n").as_bytes(), true);
        let started = imported.is_ok().then(|| Arena::start(&saved(&data)));
        match started {
            Some(Ok(mut arena)) => {
                self.worlds += 1;
                let mut pilot = arena.pilot(1, "pilot1");
                for _ in 0..AFTER {
                    pilot.order(orders::any(choices));
                    pilot.turn();
                    arena.step();
                }
            }
            Some(Err(StartError::Load(_))) | None => self.refused += 1,
            Some(Err(error)) => panic!("{error}"),
        }
    }
}

/// A row loses a number for another, is missing, is there under another number, or says what another does.
fn spoil(text: &mut Vec<String>, choices: &mut Choices<'_>) {
    if text.len() < 2 {
        return;
    }
    // By kind first: most rows are of ships.
    let mut kinds: Vec<&str> = text[1..].iter().filter_map(|line| line.split('"').nth(3)).collect();
    kinds.dedup();
    let kind = kinds[choices.below(kinds.len())].to_owned();
    let of_kind: Vec<usize> =
        (1..text.len()).filter(|&at| text[at].split('"').nth(3).is_some_and(|found| found == kind)).collect();
    let at = of_kind[choices.word() as usize % of_kind.len()];
    let other = of_kind[choices.word() as usize % of_kind.len()];
    match choices.below(8) {
        0 => drop(text.remove(at)),
        1 => {
            let line = text[other].clone();
            text[at] = line;
        }
        2 => {
            let row = text[at].clone();
            let row = row.replacen("\"id\":", &format!("\"id\":{}", choices.byte()), 1);
            text.push(row);
        }
        _ => {
            let line = &mut text[at];
            let is_digit = |c: char| c.is_ascii_digit();
            let numbers: Vec<usize> = line.match_indices(is_digit).map(|(at, _)| at).collect();
            let Some(&digit) = numbers.get(choices.word() as usize % numbers.len().max(1)) else { return };
            let is_number = |c: char| is_digit(c) || matches!(c, '.' | '-' | 'e');
            let begin = line[..digit].rfind(|c: char| !is_number(c)).map_or(0, |before| before + 1);
            let end = line[digit..].find(|c: char| !is_number(c)).map_or(line.len(), |after| digit + after);
            let number = match line[begin..end].contains('.') {
                _ if choices.once_in(8) => NUMBERS[choices.below(NUMBERS.len())],
                true => FLOATS[choices.below(FLOATS.len())],
                false => WHOLE[choices.below(WHOLE.len())],
            };
            line.replace_range(begin..end, number);
        }
    }
}
