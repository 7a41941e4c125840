//! Version 1 to 2: a world whose Rifts came and went, to one with six that stay (rule 15).
//!
//! A version-1 world has up to three temporary Rifts. Each is called `rift-` and a counter, and borrows the tier of a layer
//! from 4 to 6. They close: every ship, squad, structure, wreck and wormhole end there moves to the fixed Rift of that
//! tier. The old ids overlap with the fixed ones, so each is rewritten where it stands, once: an old `rift-3` of tier 5
//! becomes `rift-5`, and an old `rift-5` of tier 4 becomes `rift-4`, whatever comes first.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::error::Error;

use rusqlite::{Transaction, params};

use super::migrate::Migration;
use super::schema::put_row;
use super::value::Value;

/// The step to version 2.
pub(super) const STEP: Migration = Migration { from: 1, run };

type Failure = Box<dyn Error + Send + Sync>;

/// The most temporary Rifts that there could be.
const MOST_RIFTS: usize = 3;

/// The tiers that they could borrow.
const TIERS: std::ops::RangeInclusive<u64> = 4..=6;

/// The fixed Rift that takes the place of each temporary one, by its old id.
struct Rifts(BTreeMap<String, String>);

fn run(transaction: &Transaction<'_>) -> Result<(), Failure> {
    let mut rifts = Rifts(BTreeMap::new());
    let mut world = read(transaction, "world", 0)?.ok_or("there is no world in it")?;
    rifts.take_from(&mut world)?;
    write(transaction, "world", 0, &world)?;
    let gone = match read(transaction, "incursions", 0)? {
        Some(mut incursions) => {
            let gone = rifts.end_incursions(&mut incursions);
            write(transaction, "incursions", 0, &incursions)?;
            gone
        }
        None => Vec::new(),
    };
    let mut keys = transaction.prepare("SELECT kind, id FROM rows ORDER BY kind, id")?;
    let keys: Vec<(String, i64)> =
        keys.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (kind, id) in keys {
        let id = id.cast_unsigned();
        let Some(mut row) = read(transaction, &kind, id)? else { continue };
        match kind.as_str() {
            "world" | "incursions" => continue,
            // What they were laid out as, and who was to come there, is over with them.
            "map" | "squads" if rifts.has(&row) => {
                transaction.execute("DELETE FROM rows WHERE kind = ?1 AND id = ?2", params![kind, id.cast_signed()])?;
                continue;
            }
            "charts" => rifts.drop_pairs(&mut row),
            "squad" => {
                let invader = row.get_mut("invader");
                if let Some(invader) = invader.filter(|invader| gone.contains(invader)) {
                    *invader = Value::Nil;
                }
            }
            _ => {}
        }
        rifts.rewrite(&mut row);
        write(transaction, &kind, id, &row)?;
    }
    Ok(())
}

fn read(transaction: &Transaction<'_>, kind: &str, id: u64) -> Result<Option<Value>, Failure> {
    let mut statement = transaction.prepare_cached("SELECT data FROM rows WHERE kind = ?1 AND id = ?2")?;
    let mut rows = statement.query(params![kind, id.cast_signed()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let data: Vec<u8> = row.get(0)?;
    Ok(Some(Value::of_row(&data).ok_or_else(|| format!("row {kind} {id} cannot be read"))?))
}

fn write(transaction: &Transaction<'_>, kind: &str, id: u64, row: &Value) -> Result<(), Failure> {
    Ok(put_row(transaction, kind, id, &row.to_row()?)?)
}

impl Rifts {
    /// Takes the temporary Rifts off the world's row.
    fn take_from(&mut self, world: &mut Value) -> Result<(), Failure> {
        let Some(Value::List(listed)) = world.remove("rifts") else {
            return Err("the world does not say which Rifts it had".into());
        };
        for mut rift in listed {
            let (Some(Value::Text(id)), Some(Value::Uint(tier))) = (rift.remove("id"), rift.remove("tier")) else {
                return Err("a Rift without an id or a tier".into());
            };
            if !TIERS.contains(&tier) {
                return Err(format!("{id} has the tier {tier}").into());
            }
            self.0.insert(id, format!("rift-{tier}"));
        }
        if self.0.len() > MOST_RIFTS {
            return Err(format!("{} temporary Rifts", self.0.len()).into());
        }
        if let Some(next) = world.get_mut("storms").and_then(|storms| storms.get_mut("next")) {
            self.drop_pairs(next);
        }
        Ok(())
    }

    fn is_old(&self, value: &Value) -> bool {
        matches!(value, Value::Text(id) if self.0.contains_key(id))
    }

    /// Whether a row is of a temporary Rift.
    fn has(&self, row: &Value) -> bool {
        row.find("map").is_some_and(|map| self.is_old(map))
    }

    /// Takes what belongs to temporary Rifts out of a list of pairs by map.
    fn drop_pairs(&self, pairs: &mut Value) {
        if let Value::List(pairs) = pairs {
            pairs.retain(|pair| !matches!(pair, Value::List(pair) if pair.first().is_some_and(|map| self.is_old(map))));
        }
    }

    /// Ends the incursions of temporary Rifts; which those were.
    fn end_incursions(&self, incursions: &mut Value) -> Vec<Value> {
        let mut gone = Vec::new();
        if let Some(due) = incursions.get_mut("due") {
            self.drop_pairs(due);
        }
        if let Some(Value::List(on)) = incursions.get_mut("on") {
            on.retain(|pair| {
                let Value::List(pair) = pair else { return true };
                let [id, incursion] = pair.as_slice() else { return true };
                let stays = !self.has(incursion);
                if !stays {
                    gone.push(id.clone());
                }
                stays
            });
        }
        gone
    }

    /// Rewrites every map that a row names. A pilot or a charter may be called like one and keeps its name.
    fn rewrite(&self, value: &mut Value) {
        match value {
            Value::Map(entries) => {
                for (key, value) in entries {
                    match (key, value) {
                        (Value::Text(key), Value::Text(id)) if key == "map" => {
                            if let Some(now) = self.0.get(id) {
                                id.clone_from(now);
                            }
                        }
                        (_, value) => self.rewrite(value),
                    }
                }
            }
            Value::List(values) => values.iter_mut().for_each(|value| self.rewrite(value)),
            _ => {}
        }
    }
}

impl Value {
    /// An entry of a map, by its key.
    fn find(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(known, _)| matches!(known, Self::Text(known) if known == key)).map(|(_, value)| value)
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter_mut().find(|(known, _)| matches!(known, Self::Text(known) if known == key)).map(|(_, value)| value)
    }

    fn remove(&mut self, key: &str) -> Option<Self> {
        let Self::Map(entries) = self else { return None };
        let at = entries.iter().position(|(known, _)| matches!(known, Self::Text(known) if known == key))?;
        Some(entries.remove(at).1)
    }
}
