//! What a server says is shown on terminals: it is made plain where it comes in, so nobody who shows it need think of it.

use keel_protocol::{Journal, ToClient, Welcome};

/// A message whose texts do nothing to a terminal.
pub(crate) fn plain(mut message: ToClient) -> ToClient {
    match &mut message {
        ToClient::Refused { reason } => clean(reason),
        ToClient::Welcome(welcome) | ToClient::Rebalanced(welcome) => {
            let Welcome { classes, lines, factions, grades, kinds, .. } = welcome;
            let names = [classes, lines, factions, grades].into_iter().flatten();
            names.chain(kinds.iter_mut().map(|kind| &mut kind.name)).for_each(clean);
        }
        ToClient::Answer(answer) => clean(&mut answer.text),
        ToClient::Line(line) => clean(&mut line.text),
        ToClient::Bonds(bonds) => bonds.charter.iter_mut().for_each(|charter| clean(&mut charter.name)),
        ToClient::Pilot(pilot) => pilot.iter_mut().for_each(|pilot| clean(&mut pilot.name)),
        ToClient::Wormholes(wormholes) => wormholes.iter_mut().for_each(|wormhole| {
            clean(&mut wormhole.code);
            clean(&mut wormhole.danger);
        }),
        ToClient::Journal(Journal { storms, .. }) => storms.iter_mut().for_each(|storm| clean(&mut storm.name)),
        ToClient::Goods(goods) => {
            goods.copies.iter_mut().map(|(name, _)| name).chain(&mut goods.originals).for_each(clean);
        }
        ToClient::Card(_)
        | ToClient::Map(_)
        | ToClient::Hold(_)
        | ToClient::Log(_)
        | ToClient::Chart(_)
        | ToClient::Wrecks(_) => {}
    }
    message
}

fn clean(text: &mut String) {
    if let std::borrow::Cow::Owned(plain) = keel_names::plain(text) {
        *text = plain;
    }
}

#[cfg(test)]
mod tests {
    use keel_protocol::{Answer, Bonds, Charter, Goods, Kind, Line, Pilot, Slot, Storm, Wormhole};

    use super::*;

    const EVIL: &str = "a\u{1b}[2J\u{202e}\r\n\u{9b}b";

    #[test]
    fn no_text_of_any_message_has_a_character_that_does_something() {
        let evil = || EVIL.to_owned();
        let charter = Charter { id: 1, name: evil(), head: 1, members: Vec::new(), hostile: Vec::new() };
        let messages = [
            ToClient::Refused { reason: evil() },
            ToClient::Welcome(Welcome {
                version: 1,
                balance: 0,
                pilot: 1,
                classes: vec![evil()],
                lines: vec![evil()],
                factions: vec![evil()],
                grades: vec![evil()],
                kinds: vec![Kind { name: evil(), slot: Slot::Armor, grid: 1.0 }],
                yard: Vec::new(),
            }),
            ToClient::Answer(Answer { seq: 1, accepted: false, text: evil() }),
            ToClient::Line(Line { step: 1, ship: 1, text: evil() }),
            ToClient::Bonds(Bonds { charter: Some(charter), ..Bonds::default() }),
            ToClient::Pilot(Some(Pilot { id: 1, name: evil(), charter: 0 })),
            ToClient::Wormholes(vec![Wormhole {
                id: 1,
                code: evil(),
                map: 1,
                place: (0, 0),
                to: 2,
                opened: 0,
                danger: evil(),
                inside: None,
            }]),
            ToClient::Journal(Journal {
                storms: vec![Storm { map: 1, lands: 0, name: evil(), is_building: false }],
                ..Journal::default()
            }),
            ToClient::Goods(Goods { copies: vec![(evil(), 1)], originals: vec![evil()], ..Goods::default() }),
        ];
        for message in messages {
            // As anyone would see it who looks for an escape that is left.
            let bytes = keel_protocol::encode(&plain(message.clone()));
            let raw = bytes.iter().filter(|&&byte| byte == 0x1b).count();
            assert_eq!(raw, 0, "{message:?}");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!text.contains('\u{202e}') && !text.contains('\u{9b}') && text.contains("\\u{1b}"), "{message:?}");
        }
    }
}
