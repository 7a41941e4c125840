//! What a payload must be before renet sees it.
//!
//! renet trusts whoever has a connection. It takes the index of a slice at its word, and that a later one names the same
//! count; it counts what waits by the bytes of messages, so messages of none, or of one byte, wait at many times that cost; and
//! it keeps a range for each hole in the numbers of packets, however many there are if they come backwards. What our clients send is small whole
//! messages, a few in a packet, and acknowledgements of what they were sent. Here that is read to the last byte.

use keel_protocol::{CHANNEL_LOSSY, CHANNEL_ORDERED, MAX_ORDER, MOST_AHEAD};

/// Messages in one payload. Ours have a few.
const MOST_MESSAGES: u16 = 64;

/// How far a packet's number may be ahead of the last one, and how late it may come: netcode lets none in that is later.
const MOST_SKIPPED: u64 = 1 << 16;
const MOST_LATE: u64 = 256;

/// Ranges of an acknowledgement. renet keeps 64, and some more when packets overtake each other.
const MOST_RANGES: u64 = 256;

/// What has gone on with a client so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Course {
    /// The number after that of the newest packet of the client's.
    pub(super) next: u64,
    /// Ordered messages of the client's that were taken, and the number after that of the newest that has come.
    pub(super) delivered: u64,
    pub(super) come: u64,
    /// Packets that the client was sent.
    pub(super) sent: u64,
    /// Which of the last numbers before `next` have come.
    heard: Heard,
}

/// A bit for each of the last [`MOST_LATE`] numbers, at its remainder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Heard([u64; (MOST_LATE / 64) as usize]);

impl Heard {
    const fn bit(number: u64) -> (usize, u64) {
        ((number % MOST_LATE / 64) as usize, 1 << (number % 64))
    }

    const fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::bit(number);
        self.0[word] & bit != 0
    }

    const fn add(&mut self, number: u64) {
        let (word, bit) = Self::bit(number);
        self.0[word] |= bit;
    }

    /// Makes room for the numbers from the next one to one that has come.
    fn go_on(&mut self, next: u64, number: u64) {
        for skipped in next.max(number.saturating_sub(MOST_LATE - 1))..=number {
            let (word, bit) = Self::bit(skipped);
            self.0[word] &= !bit;
        }
    }
}

/// A payload that renet may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sane {
    /// It comes so late, or so much by itself, that renet is better off without it. What matters in it is sent again.
    Late,
    /// Messages.
    Ordered,
    /// So many messages.
    Lossy(u16),
    /// An acknowledgement.
    Ack,
}

impl Course {
    /// What a payload is, if it is one that a client of ours could have sent; it is then part of the course.
    pub(super) fn check(&mut self, payload: &[u8]) -> Option<Sane> {
        let (&kind, mut rest) = payload.split_first()?;
        let number = varint(&mut rest)?;
        (number < self.next.saturating_add(MOST_SKIPPED)).then_some(())?;
        let (sane, come) = match kind {
            0 => (Sane::Ordered, self.ordered(rest)?),
            1 => (Sane::Lossy(lossy(rest)?), 0),
            4 => {
                self.acknowledges(rest)?;
                (Sane::Ack, 0)
            }
            // Slices: nothing that a client says is so long.
            _ => return None,
        };
        if number.saturating_add(MOST_LATE) < self.next || self.is_alone(number) {
            return Some(Sane::Late);
        }
        if number >= self.next {
            self.heard.go_on(self.next, number);
            self.next = number + 1;
        }
        self.heard.add(number);
        self.come = self.come.max(come);
        Some(sane)
    }

    /// Whether a packet comes late and neither of its neighbours has come. It would leave one more range in what renet acknowledges,
    /// and of those that are made backwards renet keeps any number.
    fn is_alone(&self, number: u64) -> bool {
        let has = |number: u64| number < self.next && number + MOST_LATE >= self.next && self.heard.has(number);
        number < self.next && !(has(number) || has(number + 1) || number.checked_sub(1).is_some_and(has))
    }

    /// The number after the newest message's.
    fn ordered(&self, rest: &[u8]) -> Option<u64> {
        let (count, mut rest) = head(rest, CHANNEL_ORDERED)?;
        let mut come = 0;
        for _ in 0..count {
            let id = varint(&mut rest)?;
            (id <= self.delivered.saturating_add(MOST_AHEAD)).then_some(())?;
            message(&mut rest)?;
            come = come.max(id + 1);
        }
        rest.is_empty().then_some(come)
    }

    /// The newest packet and how many before it, how many more ranges, and for each the gap before and how many.
    fn acknowledges(&self, mut rest: &[u8]) -> Option<()> {
        let newest = varint(&mut rest)?;
        (newest < self.sent).then_some(())?;
        let mut start = newest.checked_sub(varint(&mut rest)?)?;
        let ranges = varint(&mut rest)?;
        (ranges < MOST_RANGES).then_some(())?;
        for _ in 0..ranges {
            let end = start.checked_sub(varint(&mut rest)?.checked_add(2)?)?;
            start = end.checked_sub(varint(&mut rest)?)?;
        }
        rest.is_empty().then_some(())
    }
}

/// How many messages there are.
fn lossy(rest: &[u8]) -> Option<u16> {
    let (count, mut rest) = head(rest, CHANNEL_LOSSY)?;
    for _ in 0..count {
        message(&mut rest)?;
    }
    rest.is_empty().then_some(count)
}

/// How many messages there are, of the channel that it has to be.
fn head(rest: &[u8], channel: u8) -> Option<(u16, &[u8])> {
    let [on, high, low, messages @ ..] = rest else { return None };
    let count = u16::from_be_bytes([*high, *low]);
    (*on == channel && count <= MOST_MESSAGES).then_some((count, messages))
}

fn message(rest: &mut &[u8]) -> Option<()> {
    let length = usize::try_from(varint(rest)?).ok().filter(|length| (1..=MAX_ORDER).contains(length))?;
    *rest = rest.get(length..)?;
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

    fn check(payload: &[u8], course: Course) -> Option<Sane> {
        { course }.check(payload)
    }

    const BEGUN: Course = Course { next: 0, delivered: 0, come: 0, sent: 0, heard: Heard([0; 4]) };

    #[test]
    fn numbers_of_every_length_are_read() {
        for (bytes, number) in [
            (&[0x25][..], 37),
            (&[0x7b, 0xbd], 15_293),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0xff; 8], (1 << 62) - 1),
        ] {
            let mut rest = bytes;
            assert_eq!(varint(&mut rest), Some(number));
            assert!(rest.is_empty());
            assert_eq!(varint(&mut &bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn empty_messages_too_many_and_too_far_ahead_are_refused() {
        // [kind, number, channel, count (2), then id, length, bytes for each]
        assert_eq!(check(&[0, 0, 0, 0, 1, 7, 1, 9], BEGUN), Some(Sane::Ordered));
        assert_eq!(check(&[1, 0, 1, 0, 2, 1, 9, 2, 9, 9], BEGUN), Some(Sane::Lossy(2)));
        let one = Course { delivered: 1, ..BEGUN };
        for (payload, course, why) in [
            (&[0, 0, 0, 0, 1, 7, 0][..], BEGUN, "an empty ordered message"),
            (&[1, 0, 1, 0, 1, 0], BEGUN, "an empty lossy message"),
            (&[0, 0, 0, 0, 1, 0x44, 0x01, 1, 9], BEGUN, "1,025 ahead"),
            (&[1, 0, 1, 0xff, 0xff], BEGUN, "65,535 messages"),
            (&[0, 0, 0, 0, 1, 7, 5, 9], BEGUN, "longer than the payload"),
            (&[0, 0, 0, 0, 1, 7, 1, 9, 9], one, "something after the last"),
            (&[0, 0, 1, 0, 1, 7, 1, 9], BEGUN, "ordered on the lossy channel"),
            (&[1, 0, 0, 0, 1, 1, 9], BEGUN, "lossy on the ordered channel"),
            (&[1, 0, 7, 0, 1, 1, 9], BEGUN, "no channel"),
            (&[2, 0, 0, 0, 0, 1, 1, 9], BEGUN, "a slice"),
            (&[3, 0, 1, 0, 0, 1, 1, 9], BEGUN, "a lossy slice"),
            (&[1, 0x80, 1, 0, 0, 1, 0, 1, 1, 9], BEGUN, "a number far ahead"),
        ] {
            assert_eq!(check(payload, course), None, "{why}");
        }
        assert_eq!(check(&[0, 0, 0, 0, 1, 0x44, 0x01, 1, 9], one), Some(Sane::Ordered));
        for nonsense in [&[][..], &[0], &[0, 0xff], &[2, 0, 0, 0, 9, 2, 1, 0], &[3], &[9, 9], &[4], &[4, 0, 0]] {
            assert_eq!(check(nonsense, BEGUN), None, "{nonsense:?}");
        }
        let long = [&[1, 0, 1, 0, 1, 0x44, 0x01][..], &[9; 1025]].concat();
        assert_eq!(check(&long, BEGUN), None, "longer than any message");
    }

    #[test]
    fn only_what_was_sent_can_be_acknowledged() {
        let sent = Course { sent: 40, ..BEGUN };
        // [kind, number, newest, before it, more ranges, then gap, before it for each]
        assert_eq!(check(&[4, 0, 39, 3, 0], sent), Some(Sane::Ack));
        assert_eq!(check(&[4, 0, 39, 3, 2, 0, 1, 5, 10], sent), Some(Sane::Ack));
        for (payload, why) in [
            (&[4, 0, 40, 3, 0][..], "what was not sent"),
            (&[4, 0, 39, 40, 0], "before the first"),
            (&[4, 0, 39, 3, 1], "a range that is missing"),
            (&[4, 0, 39, 3, 1, 35, 0], "a gap before the first"),
            (&[4, 0, 39, 3, 1, 0, 39], "a range before the first"),
            (&[4, 0, 39, 3, 0, 0], "something after the last"),
            (&[4, 0, 39, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "ranges without end"),
            (&[4, 0, 39, 0, 0x41, 0x00], "too many ranges"),
            (&[4, 0, 39, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0], "a gap without end"),
        ] {
            assert_eq!(check(payload, sent), None, "{why}");
        }
    }

    #[test]
    fn what_comes_far_too_late_is_left_out() {
        let mut course = Course { next: 1000, heard: Heard([u64::MAX; 4]), ..BEGUN };
        assert_eq!(course.check(&[1, 0x42, 0xe7, 1, 0, 1, 1, 9]), Some(Sane::Late), "743 after 999");
        assert_eq!(course.check(&[1, 0x42, 0xe8, 1, 0, 1, 1, 9]), Some(Sane::Lossy(1)), "744 after 999");
        assert_eq!(course.next, 1000);
        assert_eq!(course.check(&[0, 0x43, 0xe8, 0, 0, 1, 4, 1, 9]), Some(Sane::Ordered));
        assert_eq!((course.next, course.come), (1001, 5));
    }

    /// A lossy message in a packet of a number.
    fn numbered(number: u64) -> Vec<u8> {
        [&[1][..], &(0x8000_0000 | number as u32).to_be_bytes(), &[1, 0, 1, 1, 9]].concat()
    }

    #[test]
    fn one_that_comes_late_is_taken_beside_another_and_left_out_alone() {
        let mut course = BEGUN;
        for (number, sane) in [
            (0, Sane::Lossy(1)),
            (9, Sane::Lossy(1)),
            (8, Sane::Lossy(1)),
            (6, Sane::Late),
            (7, Sane::Lossy(1)),
            (6, Sane::Lossy(1)),
            (1, Sane::Lossy(1)),
            (3, Sane::Late),
            (9, Sane::Lossy(1)),
            (300, Sane::Lossy(1)),
            (44, Sane::Late),
            (299, Sane::Lossy(1)),
            (1000, Sane::Lossy(1)),
            (999 - 255, Sane::Late),
            (1001, Sane::Lossy(1)),
        ] {
            assert_eq!(course.check(&numbered(number)), Some(sane), "{number}");
        }
    }

    #[test]
    fn whatever_numbers_come_all_that_renet_acknowledges_of_them_fits_a_packet() {
        // Backwards with a hole between any two, in leaps; the same with a neighbour for each; forwards and then back again.
        let leap = |step: u64, at: u64| (0..at).rev().step_by(step as usize);
        let ways: [(&str, Box<dyn Fn(u64) -> Vec<u64>>); 3] = [
            ("backwards", Box::new(|base| leap(2, 250).map(|n| base + n).collect())),
            ("in pairs", Box::new(|base| leap(3, 250).flat_map(|n| [base + n + 1, base + n]).collect())),
            ("to and fro", Box::new(|base| (0..250).step_by(2).chain((1..250).step_by(3)).map(|n| base + n).collect())),
        ];
        for (way, numbers) in ways {
            let mut renet = renet::RenetServer::new(keel_protocol::connection_config());
            renet.add_connection(1);
            let (mut course, mut base) = (BEGUN, 0);
            for _ in 0..100 {
                for number in numbers(base) {
                    let payload = numbered(number);
                    if course.check(&payload) != Some(Sane::Late) {
                        renet.process_packet_from(&payload, 1).unwrap();
                    }
                }
                base += 20_000;
            }
            let packets = renet.get_packets_to_send(1).unwrap();
            let longest = packets.iter().map(Vec::len).max();
            assert!(longest.is_some_and(|length| length < renetcode::NETCODE_MAX_PAYLOAD_BYTES), "{way}: {longest:?}");
        }
    }
}
