//! What pilots and charters may be called, and how what others write is shown.
//!
//! A name is for people to tell others by, so two names that look alike are one name, and nothing in a name moves, hides or
//! colours the text around it. Names are checked where they come in. Whatever else others write is made [`plain`] where it
//! goes out, to a terminal or a log.

use std::borrow::Cow;

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::{GeneralSecurityProfile, MixedScript, skeleton};

/// The longest name, in glyphs: letters with what is put on them.
pub const MAX_NAME: usize = 20;

/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 80;

/// Marks on one letter.
const MOST_MARKS: usize = 2;

/// Why a name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Empty, or too long.
    #[error("A name has 1 to {MAX_NAME} characters.")]
    Length,
    /// Something that is neither letter, digit, `-` nor `_`, or no letter that is in common use.
    #[error("A name is made of letters, digits, - and _.")]
    Characters,
    /// Letters with parts that should be one.
    #[error("A name is written with composed letters (NFC).")]
    Composed,
    /// Letters of scripts that do not go together.
    #[error("A name is written in one script.")]
    Scripts,
}

/// Whether a pilot or a charter may be called that.
///
/// # Errors
/// With what is wrong with it.
pub fn check_name(name: &str) -> Result<(), NameError> {
    // Bytes first: what follows looks at every character.
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(NameError::Length);
    }
    let is_fit = |c: char| match c {
        '-' | '_' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        // No other digits: those of several scripts look like others, or like letters.
        c => c.identifier_allowed() && (c.is_alphabetic() || is_combining_mark(c)) && !c.is_numeric(),
    };
    if !name.chars().all(is_fit) {
        return Err(NameError::Characters);
    }
    let (mut glyphs, mut marks) = (0, MOST_MARKS);
    for c in name.chars() {
        if is_combining_mark(c) {
            marks += 1;
        } else {
            (glyphs, marks) = (glyphs + 1, 0);
        }
        // A mark on nothing, or a tower of them.
        if marks > MOST_MARKS {
            return Err(NameError::Characters);
        }
    }
    if glyphs > MAX_NAME {
        return Err(NameError::Length);
    }
    if !name.nfc().eq(name.chars()) {
        return Err(NameError::Composed);
    }
    if !name.is_single_script() {
        return Err(NameError::Scripts);
    }
    Ok(())
}

/// A name as [`check_name`] wants it, if there is one: with composed letters.
#[must_use]
pub fn composed(name: &str) -> String {
    name.nfc().collect()
}

/// A name, whatever its case: `Ann` and `ann` are one.
#[must_use]
pub fn folded(name: &str) -> String {
    // By way of the upper case, so that letters of which only the lower case differs are one as well.
    let upper = name.chars().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).nfkc().collect()
}

/// What a name looks like: names that share one of these look alike, as written or in lower case.
#[must_use]
pub fn looks(name: &str) -> [String; 2] {
    [skeleton(name).collect(), skeleton(&folded(name)).collect()]
}

/// Text that others wrote, in one line that does nothing to a terminal or to the text around it: what is not shown, moves what is
/// shown or ends a line is written as `\u{…}`.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_plain(c) {
            plain.push(c);
        } else {
            plain.extend(c.escape_unicode());
        }
    }
    Cow::Owned(plain)
}

/// Whether a character is one that is seen, and no more.
fn is_plain(c: char) -> bool {
    let is_hidden = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !is_hidden
}
