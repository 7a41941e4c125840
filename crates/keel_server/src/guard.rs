//! What a payload must be before renet sees it.
//!
//! renet counts what waits by the bytes of messages, so messages of none would wait by the million at no cost, and it
//! takes the index of a slice at its word. Our clients send neither.

/// Messages in one payload. Ours have a few.
const MOST_MESSAGES: u16 = 64;

/// How far ahead of what was delivered an ordered message may be.
const MOST_AHEAD: u64 = 1024;

/// Whether a payload is one that a client of ours could have sent: small messages that are not empty, or an
/// acknowledgement. `delivered` is the number of ordered messages that were taken so far.
pub(crate) fn is_sane(payload: &[u8], delivered: u64) -> bool {
    match payload {
        [0, rest @ ..] => are_messages(rest, Some(delivered)).is_some(),
        [1, rest @ ..] => are_messages(rest, None).is_some(),
        [4, ..] => true,
        _ => false,
    }
}

fn are_messages(mut rest: &[u8], ordered: Option<u64>) -> Option<()> {
    varint(&mut rest)?;
    let [_channel, high, low, messages @ ..] = rest else { return None };
    rest = messages;
    let count = u16::from_be_bytes([*high, *low]);
    if count > MOST_MESSAGES {
        return None;
    }
    for _ in 0..count {
        if let Some(delivered) = ordered {
            let id = varint(&mut rest)?;
            (id <= delivered.saturating_add(MOST_AHEAD)).then_some(())?;
        }
        let length = usize::try_from(varint(&mut rest)?).ok().filter(|&length| length > 0)?;
        rest = rest.get(length..)?;
    }
    Some(())
}

/// A number whose first two bits give its length: 1, 2, 4 or 8 bytes.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let length = 1usize << (rest.first()? >> 6);
    let (bytes, more) = rest.split_at_checked(length)?;
    *rest = more;
    let whole = bytes.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    Some(whole & (u64::MAX >> (66 - 8 * length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read() {
        for (bytes, number) in [
            (&[0x25][..], 37),
            (&[0x7b, 0xbd], 15_293),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
        ] {
            let mut rest = bytes;
            assert_eq!(varint(&mut rest), Some(number));
            assert!(rest.is_empty());
            assert_eq!(varint(&mut &bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn empty_messages_too_many_and_too_far_ahead_are_refused() {
        // [kind, sequence, channel, count (2), then id, length, bytes for each]
        assert!(is_sane(&[0, 0, 0, 0, 1, 7, 1, 9], 0));
        assert!(is_sane(&[1, 0, 1, 0, 2, 1, 9, 2, 9, 9], 0));
        assert!(is_sane(&[4, 0], 0));
        assert!(!is_sane(&[0, 0, 0, 0, 1, 7, 0], 0), "an empty ordered message");
        assert!(!is_sane(&[1, 0, 1, 0, 1, 0], 0), "an empty lossy message");
        assert!(!is_sane(&[0, 0, 0, 0, 1, 0x44, 0x01, 1, 9], 0), "1,025 ahead");
        assert!(is_sane(&[0, 0, 0, 0, 1, 0x44, 0x01, 1, 9], 1));
        assert!(!is_sane(&[1, 0, 1, 0xff, 0xff], 0), "65,535 messages");
        assert!(!is_sane(&[0, 0, 0, 0, 1, 7, 5, 9], 0), "longer than the payload");
        for nonsense in [&[][..], &[0], &[0, 0xff], &[2, 0, 0, 0, 9, 2, 1, 0], &[3], &[9, 9]] {
            assert!(!is_sane(nonsense, 0), "{nonsense:?}");
        }
    }
}
