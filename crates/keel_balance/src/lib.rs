//! The typed `balance.ron`: every number a designer may move, read once and checked before anything runs.
//!
//! Loading either gives a [`Balance`] in which every value is inside its documented range, or a [`BalanceError`] that lists
//! *all* that is wrong, each with file, line, column, the path to the value and what was expected there. Nothing
//! behind this crate checks a number again.

mod checks;
mod error;
mod load;
mod schema;
mod table;
mod units;

pub use checks::MOST_SYSTEMS;
pub use error::{BalanceError, Fault};
pub use load::Leaf;
pub use schema::*;
pub use table::Table;
pub use units::{Amount, Chance, Delay, Factor, Points, Pool, Seconds, Share, Shift};

use std::hash::Hasher;
use std::path::Path;

use fnv::FnvHasher;

impl Balance {
    /// Reads and checks the balance in a file.
    ///
    /// # Errors
    /// When the file is missing or unreadable, or with every fault found in it.
    pub fn load(path: &Path) -> Result<Self, BalanceError> {
        let name = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| BalanceError::Unreadable { name: name.clone(), source })?;
        Self::parse(&name, &text)
    }

    /// Reads and checks a balance given as text; `name` is what errors call it.
    ///
    /// # Errors
    /// With every fault found in it.
    pub fn parse(name: &str, text: &str) -> Result<Self, BalanceError> {
        let (balance, record) = load::read::<Self>(text).map_err(|fault| BalanceError::broken(name, vec![fault]))?;
        checks::check(&balance, &record);
        let faults = record.faults();
        if faults.is_empty() { Ok(balance) } else { Err(BalanceError::broken(name, faults)) }
    }

    /// Every value in a balance's text that stands by itself (a number, a name, a flag), with its path and where it is.
    ///
    /// # Errors
    /// When the text is not RON.
    pub fn leaves(name: &str, text: &str) -> Result<Vec<Leaf>, BalanceError> {
        let (_, record) = load::read::<Self>(text).map_err(|fault| BalanceError::broken(name, vec![fault]))?;
        Ok(record.leaves())
    }

    /// Whether a class is a structure's, and no ship's.
    #[must_use]
    pub fn is_structure(&self, class: &str) -> bool {
        [&self.structures.berth, &self.structures.outpost].iter().any(|structure| structure.class == class)
    }

    /// A hash of every value (not of comments or layout), for a server and a client to compare.
    #[must_use]
    pub fn hash(&self) -> u64 {
        // Over the printed form: that is derived from the schema, so no field can be forgotten.
        let mut hash = FnvHasher::default();
        hash.write(format!("{self:?}").as_bytes());
        hash.finish()
    }
}
