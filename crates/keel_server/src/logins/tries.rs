//! How often who has tried to log in, and whence accounts are known.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use super::limit::Limit;
use crate::accounts::MOST_SEEN;

/// What one address may cost at once and a second for long; what a try costs, and what of that one with the right password gets
/// back. So: twenty wrong ones at once and then one in ten seconds.
const ADDRESS_FULL: f32 = 100.0;
const ADDRESS_PER_SECOND: f32 = 0.5;
const TRY: f32 = 5.0;
const RIGHT_BACK: f32 = 4.0;

/// Wrong passwords for one account from where it has not logged in before: ten at once and then one in thirty seconds.
const ACCOUNT_FULL: f32 = 10.0;
const ACCOUNT_PER_SECOND: f32 = 1.0 / 30.0;

/// Accounts of which it is remembered whence they have logged in.
const MOST_KNOWN: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Tries {
    addresses: Limit<IpAddr>,
    accounts: Limit<String>,
    /// The networks from which accounts have logged in, the last one last.
    known: BTreeMap<String, Vec<IpAddr>>,
}

/// Whose budget is used up, and how long it takes until there is enough for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooOften {
    Address(Duration),
    Account(Duration),
}

impl Tries {
    /// Nobody has tried, and accounts are known from where they were seen, the last one last.
    pub(super) fn new(seen: impl IntoIterator<Item = (String, IpAddr)>) -> Self {
        let (addresses, accounts) =
            (Limit::new(ADDRESS_FULL, ADDRESS_PER_SECOND), Limit::new(ACCOUNT_FULL, ACCOUNT_PER_SECOND));
        let mut tries = Self { addresses, accounts, known: BTreeMap::new() };
        for (account, from) in seen {
            tries.know(account, from);
        }
        tries
    }

    /// Takes a try of an account from a network out of both their budgets, or out of neither; whether it has logged in from there
    /// before.
    pub(super) fn take(&mut self, from: IpAddr, account: &str, now: Duration) -> Result<bool, TooOften> {
        let is_known = self.known.get(account).is_some_and(|networks| networks.contains(&from));
        let account = account.to_owned();
        self.addresses.check(&from, TRY, now, is_known).map_err(TooOften::Address)?;
        // Else a stranger could keep a pilot out by trying their name.
        if !is_known {
            self.accounts.check(&account, 1.0, now, false).map_err(TooOften::Account)?;
            self.accounts.take(&account, 1.0);
        }
        self.addresses.take(&from, TRY);
        Ok(is_known)
    }

    /// The password was right: gives back what only wrong ones cost.
    pub(super) fn give_back(&mut self, from: IpAddr, account: String, is_known: bool) {
        self.addresses.give_back(&from, RIGHT_BACK);
        if !is_known {
            self.accounts.give_back(&account, 1.0);
        }
        self.know(account, from);
    }

    fn know(&mut self, account: String, from: IpAddr) {
        if self.known.len() >= MOST_KNOWN && !self.known.contains_key(&account) {
            self.known.pop_first();
        }
        let networks = self.known.entry(account).or_default();
        networks.retain(|&network| network != from);
        if networks.len() >= MOST_SEEN {
            networks.remove(0);
        }
        networks.push(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    fn from(n: u32) -> IpAddr {
        IpAddr::V4(n.into())
    }

    #[test]
    fn what_one_budget_refuses_is_not_taken_out_of_the_other() {
        let mut tries = Tries::new([]);
        for n in 0..10 {
            assert_eq!(tries.take(from(n), "ann", NOW), Ok(false));
        }
        // The name has no tries left. Whoever goes on with it has as many for others.
        for _ in 0..100 {
            assert!(matches!(tries.take(from(99), "ann", NOW), Err(TooOften::Account(_))));
        }
        for n in 0..20 {
            assert_eq!(tries.take(from(99), &format!("p{n}"), NOW), Ok(false), "{n}");
        }
        // The address has none left. What it goes on trying costs no name anything.
        for _ in 0..100 {
            assert!(matches!(tries.take(from(99), "bob", NOW), Err(TooOften::Address(_))));
        }
        for n in 0..10 {
            assert_eq!(tries.take(from(n), "bob", NOW), Ok(false));
        }
    }

    #[test]
    fn an_account_is_known_from_the_last_few_networks_and_no_stranger_keeps_it_out_there() {
        let mut tries = Tries::new([("ann".to_owned(), from(1)), ("ann".to_owned(), from(2))]);
        let is_known = |tries: &mut Tries, n| tries.take(from(n), "ann", NOW).unwrap();
        assert!(is_known(&mut tries, 1) && is_known(&mut tries, 2) && !is_known(&mut tries, 3));
        for n in [3, 1, 4, 5] {
            tries.give_back(from(n), "ann".to_owned(), false);
        }
        assert_eq!([1, 2, 3, 4, 5].map(|n| is_known(&mut tries, n)), [true, false, true, true, true]);
        while tries.take(from(7), "ann", NOW).is_ok() {}
        while tries.take(from(8), "ann", NOW).is_ok() {}
        assert!(is_known(&mut tries, 3));
    }

    #[test]
    fn who_is_known_has_a_budget_of_their_own_however_many_strangers_there_are() {
        let mut tries = Tries::new([("ann".to_owned(), from(1))]);
        for n in 0..100_000 {
            let _ = tries.take(from(1000 + n), &format!("p{n}"), NOW);
        }
        assert!(tries.take(from(2), "ann", NOW).is_err(), "newcomers share what is left");
        for n in 0..20 {
            assert_eq!(tries.take(from(1), "ann", NOW), Ok(true), "{n}");
        }
        assert!(tries.take(from(1), "ann", NOW).is_err(), "and no more than anyone");
    }
}
