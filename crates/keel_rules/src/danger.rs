//! What a wormhole's card says of where it leads (rule 12).

use keel_balance::{Balance, FireRule};

/// The danger line of a layer, 1 to 6.
#[must_use]
pub fn of_layer(balance: &Balance, tier: u8) -> String {
    let layer = &balance.layers[usize::from(tier - 1)];
    let fire = match layer.fire {
        FireRule::Never => "no pilot fires on a pilot",
        FireRule::Consent => "duels by consent",
        FireRule::Open => "open fire",
    };
    let loss = if layer.hull_loss { "ships lost there are gone for good" } else { "no ship is lost there" };
    let squad = layer.squad.min(layer.sector_cap);
    format!("{:?} danger: Layer {tier}, NPC squads of up to {squad}; {fire}, and {loss}.", layer.danger)
}

/// The danger line of a Rift, 1 to 6: it reads one step deeper than its layer, and shows the smaller of squad and cap.
#[must_use]
pub fn of_rift(balance: &Balance, tier: u8) -> String {
    let rift = &balance.rifts[usize::from(tier - 1)];
    let squad = rift.squad.min(rift.sector_cap);
    format!(
        "{:?} danger: Rift {tier}, twice the NPCs of Layer {tier}, NPC squads of up to {squad}; open fire, and ships lost \
         there are gone for good.",
        rift.danger
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_12_the_card_warns_in_the_printed_words() {
        let balance = Balance::parse("balance.ron", include_str!("../../../balance.ron")).unwrap();
        assert_eq!(
            of_rift(&balance, 3),
            "High danger: Rift 3, twice the NPCs of Layer 3, NPC squads of up to 8; open fire, and ships lost there are gone \
             for good."
        );
        let words = |line: &dyn Fn(&Balance, u8) -> String| {
            [1, 2, 3, 4, 5, 6].map(|tier| line(&balance, tier).split(' ').next().unwrap().to_owned())
        };
        assert_eq!(words(&of_rift), ["Low", "Moderate", "High", "Severe", "Deadly", "Deadly"]);
        assert_eq!(words(&of_layer), ["Safe", "Low", "Moderate", "High", "Severe", "Deadly"]);
        assert!(of_rift(&balance, 6).contains("squads of up to 20;"), "the smaller of squad and cap");
        assert!(of_layer(&balance, 1).ends_with("no pilot fires on a pilot, and no ship is lost there."));
    }
}
