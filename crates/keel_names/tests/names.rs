//! What is a name and what is none, and what is left of text that others wrote.

use keel_names::{MAX_NAME, NameError, check_name, composed, folded, looks, plain};
use proptest::prelude::*;

#[test]
fn people_of_many_tongues_have_names() {
    for name in [
        "Ann_2-b",
        "a",
        "Zoë",
        "Łukasz",
        "Ярослав",
        "Ελένη",
        "さくらサクラ桜",
        "王小明",
        "김민준",
        "अनुष्का",
        "שרה",
        "سارة",
    ] {
        assert_eq!(check_name(name), Ok(()), "{name}");
    }
    assert_eq!(check_name(&"ë".repeat(MAX_NAME)), Ok(()));
}

#[test]
fn what_is_no_name_is_refused() {
    let long = "a".repeat(MAX_NAME + 1);
    let tower = format!("Z{}", "\u{320}".repeat(30));
    for (name, error) in [
        ("", NameError::Length),
        (&long, NameError::Length),
        (&"王".repeat(27), NameError::Length),
        ("two words", NameError::Characters),
        ("tab\t", NameError::Characters),
        ("new\nline", NameError::Characters),
        ("bell\u{7}", NameError::Characters),
        ("red\u{1b}[31m", NameError::Characters),
        ("c1\u{9b}31m", NameError::Characters),
        ("ann\u{202e}bob", NameError::Characters),
        ("ann\u{2066}bob", NameError::Characters),
        ("ann\u{200f}", NameError::Characters),
        ("ann\u{200b}", NameError::Characters),
        ("ann\u{200d}bob", NameError::Characters),
        ("ann\u{ad}bob", NameError::Characters),
        ("ann\u{3164}", NameError::Characters),
        ("ann\u{fe0f}", NameError::Characters),
        ("ann\u{e0041}", NameError::Characters),
        ("\u{301}ann", NameError::Characters),
        (&tower, NameError::Characters),
        ("ａｎｎ", NameError::Characters),
        ("𝒶𝓃𝓃", NameError::Characters),
        ("ann٣", NameError::Characters),
        ("ann½", NameError::Characters),
        ("ann\u{fffd}", NameError::Characters),
        ("a/b", NameError::Characters),
        ("a.b", NameError::Characters),
        ("Zoe\u{308}", NameError::Composed),
        ("pаypal", NameError::Scripts),
        ("αnn", NameError::Scripts),
    ] {
        assert_eq!(check_name(name), Err(error), "{name:?}");
    }
    assert_eq!(check_name(&composed("Zoe\u{308}")), Ok(()));
}

#[test]
fn names_that_look_alike_share_a_look() {
    let alike = |one: &str, other: &str| looks(one).iter().any(|look| looks(other).contains(look));
    for (one, other) in [
        ("Bill", "BiIl"),
        ("ann1", "annl"),
        ("b0b", "bOb"),
        ("modern", "modem"),
        ("ace", "асе"),
        ("Ann", "aNN"),
        ("a_b", "a_B"),
    ] {
        assert!(alike(one, other), "{one} and {other}");
    }
    for (one, other) in [("ann", "bob"), ("bot1", "bot2"), ("bot1", "bot11"), ("Zoe", "Zoë"), ("a-b", "a_b")] {
        assert!(!alike(one, other), "{one} and {other}");
    }
}

#[test]
fn a_name_is_one_whatever_its_case() {
    for (one, other) in [("Ann", "aNN"), ("ZOË", "zoë"), ("Straße", "STRASSE"), ("ΣΙΣΥΦΟΣ", "σισυφος"), ("ЯРО", "яро")]
    {
        assert_eq!(folded(one), folded(other));
    }
    assert_ne!(folded("ann"), folded("anm"));
}

#[test]
fn text_of_others_moves_no_cursor() {
    assert_eq!(plain("zed's Patrol 12 – ë 王 +3 %"), "zed's Patrol 12 – ë 王 +3 %");
    assert_eq!(plain("\u{1b}[2J\u{7}\r\n\u{9b}1m"), "\\u{1b}[2J\\u{7}\\u{d}\\u{a}\\u{9b}1m");
    assert_eq!(plain("a\u{202e}b\u{200b}\u{2066}\u{feff}\u{2028}"), "a\\u{202e}b\\u{200b}\\u{2066}\\u{feff}\\u{2028}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text at all: nothing panics, a name is plain and stays a name, and plain text stays as it is.
    #[test]
    fn any_text_is_a_name_or_is_none(text in ".{0,40}", junk: String) {
        for text in [&text, &junk] {
            let shown = plain(text).into_owned();
            prop_assert!(!shown.chars().any(char::is_control));
            prop_assert!(plain(&shown) == shown);
            if check_name(text).is_ok() {
                prop_assert_eq!(&shown, text);
                prop_assert_eq!(&composed(text), text);
                prop_assert_eq!(folded(&folded(text)), folded(text));
                let _ = looks(text);
            }
        }
    }
}
