//! Balance files that someone has spoilt.

use keel_balance::Balance;
use keel_testkit::SHIPPED_BALANCE;

use crate::Choices;

/// What is put where a number was.
pub(crate) const NUMBERS: [&str; 20] = [
    "0",
    "-0.0",
    "1",
    "-1",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "1e38",
    "-1e38",
    "1e39",
    "1e-45",
    "NaN",
    "inf",
    "-inf",
    "\"\"",
    "()",
    "[]",
];

/// Reads the bytes themselves, and the shipped file with some of its numbers, lines and characters changed.
///
/// # Panics
/// When a file is taken that holds a number that is none.
pub fn run(bytes: &[u8]) {
    take(&String::from_utf8_lossy(bytes));
    let mut choices = Choices::new(bytes);
    let mut text = SHIPPED_BALANCE.to_owned();
    for _ in 0..=choices.below(4) {
        spoil(&mut text, &mut choices);
    }
    take(&text);
}

fn take(text: &str) {
    if let Ok(balance) = Balance::parse("balance.ron", text) {
        // What is not a number, or none that ends, shows in the words for it.
        let words = format!("{balance:?}");
        let is_bad = |word: &str| matches!(word, "NaN" | "inf" | "-inf");
        assert!(!words.split(|c: char| " (){}[],:".contains(c)).any(is_bad), "taken with a number that is none");
    }
}

fn spoil(text: &mut String, choices: &mut Choices<'_>) {
    let numbers = || text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at);
    match choices.below(6) {
        // A number is another.
        0..=2 => {
            let at = numbers().nth(choices.word() as usize % numbers().count().max(1)).unwrap_or(0);
            let begin = text[..at].rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |before| before + 1);
            let end = text[at..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(text.len(), |after| at + after);
            text.replace_range(begin..end, NUMBERS[choices.below(NUMBERS.len())]);
        }
        // A line is missing, or there twice.
        3 | 4 => {
            let lines: Vec<&str> = text.lines().collect();
            let at = choices.word() as usize % lines.len().max(1);
            let twice = choices.once_in(2);
            let kept = lines.iter().enumerate().flat_map(|(n, line)| {
                let count = if n == at { if twice { 2 } else { 0 } } else { 1 };
                std::iter::repeat_n(*line, count)
            });
            *text = kept.collect::<Vec<_>>().join("\n");
        }
        // The file ends early, or has something in it that does not belong there.
        _ => {
            let mut at = choices.word() as usize % (text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            if choices.once_in(2) {
                text.truncate(at);
            } else {
                text.insert(at, choices.of(&['(', ')', '"', ',', ':', '\0', '\u{202e}', '9', '-', '{']));
            }
        }
    }
}
