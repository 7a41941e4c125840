//! What is wrong with a balance, in words for the person who edits it.

use std::fmt;

use thiserror::Error;

/// Why a balance could not be used.
#[derive(Debug, Error)]
pub enum BalanceError {
    /// The file is missing or cannot be read.
    #[error("cannot read the balance file {name}")]
    Unreadable {
        /// The path as it was given.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file was read and something in it is wrong.
    #[error("{name} has {}:{}", plural(faults.len()), listed(name, faults))]
    Broken {
        /// The path as it was given.
        name: String,
        /// Everything that is wrong, in the order in which it stands in the file.
        faults: Vec<Fault>,
    },
}

impl BalanceError {
    pub(crate) fn broken(name: &str, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| (fault.line, fault.column));
        Self::Broken { name: name.to_owned(), faults }
    }
}

/// One thing that is wrong in a balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The path to the value, such as `classes.Patrol.move_s`; empty for the file as a whole.
    pub path: String,
    /// What was expected there, and what was found.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, path, problem } = self;
        let colon = if path.is_empty() { "" } else { ": " };
        write!(f, "{line}:{column}: {path}{colon}{problem}")
    }
}

fn plural(count: usize) -> String {
    if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") }
}

fn listed(name: &str, faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("\n  {name}:{fault}")).collect()
}
