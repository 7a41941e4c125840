//! Reading RON so that every fault is found in one pass.
//!
//! `ron` parses; each value is kept as its raw text, so that its place in the file is known. A [`node::Node`] then feeds
//! serde's derived visitors. Where a value is wrong it records the fault and hands the visitor a harmless stand-in, so
//! reading goes on to the next fault; the half-made result is thrown away when anything was recorded.

mod entries;
mod node;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use ron::value::RawValue;
use serde::Deserialize;

use crate::error::Fault;
use node::Node;

/// A value that stands by itself: a number, a name, a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The path to it, such as `classes.Patrol.move_s`.
    pub path: String,
    /// Its bytes in the text.
    pub span: Range<usize>,
}

/// Reads a `T` from a whole text. The value is only to be used when the record holds no faults.
pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<(T, Record<'a>), Fault> {
    let raw = ron::from_str::<&RawValue>(text).map_err(|error| syntax_fault(&error))?;
    let record = Record::new(text);
    match T::deserialize(Node::root(raw, &record)) {
        Ok(value) => Ok((value, record)),
        Err(error) => Err(Fault { line: 1, column: 1, path: String::new(), problem: error.to_string() }),
    }
}

fn syntax_fault(error: &ron::error::SpannedError) -> Fault {
    let ron::error::Position { line, col } = error.span.end;
    Fault { line, column: col, path: String::new(), problem: format!("this is not RON: {}", error.code) }
}

/// What one reading saw: where each value stands, and what is wrong.
pub(crate) struct Record<'a> {
    text: &'a str,
    faults: RefCell<Vec<Fault>>,
    places: RefCell<BTreeMap<String, usize>>,
    leaves: RefCell<Vec<Leaf>>,
}

impl<'a> Record<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, faults: RefCell::default(), places: RefCell::default(), leaves: RefCell::default() }
    }

    pub(crate) fn faults(&self) -> Vec<Fault> {
        self.faults.borrow().clone()
    }

    pub(crate) fn leaves(&self) -> Vec<Leaf> {
        self.leaves.borrow().clone()
    }

    /// Records a fault of the value at a path, unless it was not read or has one already: what stands in for a faulty
    /// value is not to be blamed.
    pub(crate) fn fault_at(&self, path: &str, problem: impl Into<String>) {
        let place = self.places.borrow().get(path).copied();
        if let (Some(offset), false) = (place, self.is_faulty(path)) {
            self.fault(offset, path, problem);
        }
    }

    /// Whether the value at a path, or what holds it, has a fault.
    pub(crate) fn is_faulty(&self, path: &str) -> bool {
        self.faults.borrow().iter().any(|fault| {
            let rest = path.strip_prefix(&*fault.path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    fn fault(&self, offset: usize, path: &str, problem: impl Into<String>) {
        let before = &self.text[..offset];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        self.faults.borrow_mut().push(Fault { line, column, path: path.to_owned(), problem: problem.into() });
    }

    fn seen(&self, path: &str, offset: usize) {
        self.places.borrow_mut().entry(path.to_owned()).or_insert(offset);
    }

    fn leaf(&self, path: &str, offset: usize, length: usize) {
        self.leaves.borrow_mut().push(Leaf { path: path.to_owned(), span: offset..offset + length });
    }

    /// Where a part of the text begins in it. Raw values borrow from the text, so the difference is their place.
    fn offset(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len())
    }
}
