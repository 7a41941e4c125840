//! Which maps there are, and what each is laid out by (rule 11).

use std::fmt;
use std::str::FromStr;

use keel_balance::Balance;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// A map's stable name: `layer-1` to `layer-6`, `rift-1` to `rift-6`. A Rift reads its layer's tables through its tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapKey {
    /// A layer, or a Rift.
    pub kind: MapKind,
    /// 1 to 6.
    pub tier: u8,
}

/// What a map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MapKind {
    /// One of the six layers.
    Layer,
    /// One of the six Rifts.
    Rift,
}

impl MapKey {
    /// The layer of that number, 1 to 6.
    #[must_use]
    pub const fn layer(tier: u8) -> Self {
        Self { kind: MapKind::Layer, tier }
    }

    /// The Rift of that number, 1 to 6.
    #[must_use]
    pub const fn rift(tier: u8) -> Self {
        Self { kind: MapKind::Rift, tier }
    }

    /// What people call it: `Layer 1`, `Rift 6`.
    #[must_use]
    pub fn title(self) -> String {
        match self.kind {
            MapKind::Layer => format!("Layer {}", self.tier),
            MapKind::Rift => format!("Rift {}", self.tier),
        }
    }

    /// The map as a number: 1 to 6 are the layers, 11 to 16 the Rifts.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self.kind {
            MapKind::Layer => self.tier,
            MapKind::Rift => self.tier + 10,
        }
    }

    /// The map of a number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::all().find(|key| key.code() == code)
    }

    /// All twelve, the layers first.
    pub fn all() -> impl Iterator<Item = Self> {
        [MapKind::Layer, MapKind::Rift].into_iter().flat_map(|kind| (1..=6).map(move |tier| Self { kind, tier }))
    }
}

impl fmt::Display for MapKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            MapKind::Layer => "layer",
            MapKind::Rift => "rift",
        };
        write!(f, "{kind}-{}", self.tier)
    }
}

/// A name that is no map's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no map {0}: maps are layer-1 to layer-6 and rift-1 to rift-6")]
pub struct NoMap(String);

impl FromStr for MapKey {
    type Err = NoMap;

    fn from_str(name: &str) -> Result<Self, NoMap> {
        Self::all().find(|key| key.to_string() == name).ok_or_else(|| NoMap(name.to_owned()))
    }
}

/// As its name, so that what is written down can be read by people.
impl Serialize for MapKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MapKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// What a map is laid out by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which map: two maps of one seed differ.
    pub key: MapKey,
    /// Columns and rows of the hidden box.
    pub side: u8,
    /// Open sectors at least.
    pub least: u16,
    /// Open sectors at most.
    pub most: u16,
    /// Of a hundred places of the box, how many are hazards that no ship enters.
    pub hazards: u8,
    /// Ore.
    pub belts: Patches,
    /// Gas.
    pub clouds: Patches,
}

/// Patches of one kind on a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patches {
    /// How many.
    pub count: u8,
    /// Sectors of each at most.
    pub size: u8,
    /// Richness of each sector at most; at least 1.
    pub richness: u16,
}

impl Plan {
    /// The plan of a map (rule 11): a Rift's patches are the layer's, in size and richness times the Rift's pay.
    #[must_use]
    pub fn of(balance: &Balance, key: MapKey) -> Self {
        let tier = usize::from(key.tier - 1);
        let rule = &balance.map;
        let (box_of, least, times) = match key.kind {
            MapKind::Layer => (&rule.layer, balance.layers[tier].sectors, 1),
            MapKind::Rift => (&rule.rift, balance.rifts[tier].sectors, balance.rift_pay),
        };
        let patches = |patches: &keel_balance::Patches| Patches {
            count: patches.count,
            size: patches.size.saturating_mul(times),
            richness: patches.richness.saturating_mul(times.into()),
        };
        Self {
            key,
            side: box_of.side,
            least,
            most: box_of.most,
            hazards: rule.hazards,
            belts: patches(&rule.belts),
            clouds: patches(&rule.clouds),
        }
    }
}
