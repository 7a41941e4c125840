//! Proving passwords, on threads of its own: each takes its time, and neither HTTP nor the step is to wait for it.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bevy_log::warn;
use tokio::sync::oneshot;

use crate::accounts::{Account, AccountError, Accounts, Hashed};
use crate::boundary::LastNet;

/// Those who wait for their turn, of either kind. At 20 to 30 ms each, whoever is taken in has an answer within ten seconds.
const MOST_WAITING: usize = 256;

/// What a name and a password prove.
#[derive(Debug)]
pub(super) enum Verdict {
    /// That they are that account's. It may be banned.
    Right(Account),
    /// Nothing.
    Wrong,
    /// The accounts cannot be read.
    Failed,
}

/// One who waits.
struct Ask {
    name: String,
    password: String,
    /// From where, if the account is not known from there yet.
    new_from: Option<IpAddr>,
    answer: oneshot::Sender<Verdict>,
}

#[derive(Default)]
struct Waiting {
    /// Those who come from where the account has logged in before. They are not to wait for a crowd of strangers.
    known: VecDeque<Ask>,
    strangers: VecDeque<Ask>,
    is_over: bool,
}

/// The threads, and who waits for them.
pub(super) struct Checks {
    waiting: Arc<(Mutex<Waiting>, Condvar)>,
    threads: Vec<JoinHandle<()>>,
}

impl Checks {
    /// Starts so many threads, each with the accounts of a data directory.
    pub(super) fn start(data: &Path, threads: usize, net: &LastNet) -> Result<Self, CheckError> {
        let waiting = Arc::new((Mutex::default(), Condvar::new()));
        let mut checks = Self { waiting: Arc::clone(&waiting), threads: Vec::new() };
        // The first who asks is not to wait for it.
        let _ = Hashed::nobodys();
        for _ in 0..threads {
            let (accounts, waiting, net) = (Accounts::open(data)?, Arc::clone(&waiting), net.clone());
            let run = move || work(&waiting, &net, |ask| prove(&accounts, ask));
            let thread = std::thread::Builder::new().name("passwords".to_owned());
            checks.threads.push(thread.spawn(run).map_err(CheckError::Thread)?);
        }
        Ok(checks)
    }

    /// Waits in line; `None` when the line is too long. Those who come from where the account is known go first; `new_from` is where one comes from who is not.
    pub(super) fn ask(
        &self,
        name: String,
        password: String,
        new_from: Option<IpAddr>,
    ) -> Option<oneshot::Receiver<Verdict>> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = lock(&self.waiting.0);
        let line = if new_from.is_none() { &mut waiting.known } else { &mut waiting.strangers };
        if line.len() >= MOST_WAITING {
            // Some may have gone away.
            line.retain(|ask| !ask.answer.is_closed());
        }
        if line.len() >= MOST_WAITING {
            return None;
        }
        line.push_back(Ask { name, password, new_from, answer });
        drop(waiting);
        self.waiting.1.notify_one();
        Some(answered)
    }
}

/// Why no password can be proven.
#[derive(Debug)]
pub(super) enum CheckError {
    Accounts(AccountError),
    Thread(io::Error),
}

impl From<AccountError> for CheckError {
    fn from(error: AccountError) -> Self {
        Self::Accounts(error)
    }
}

impl Drop for Checks {
    fn drop(&mut self) {
        lock(&self.waiting.0).is_over = true;
        self.waiting.1.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Whoever panicked has left a line that is whole.
fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one after the other. One at whom it falls is answered too, and then the next.
fn work((waiting, come): &(Mutex<Waiting>, Condvar), net: &LastNet, prove: impl Fn(&Ask) -> Verdict) {
    loop {
        let mut waiting = lock(waiting);
        let ask = loop {
            if waiting.is_over {
                return;
            }
            let next = waiting.known.pop_front();
            if let Some(ask) = next.or_else(|| waiting.strangers.pop_front()) {
                break ask;
            }
            waiting = come.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        };
        drop(waiting);
        if !ask.answer.is_closed() {
            let verdict = net.catch("a login", || prove(&ask)).unwrap_or(Verdict::Failed);
            let _ = ask.answer.send(verdict);
        }
    }
}

/// What a name and a password prove. A name that nobody has takes as long as one with another password.
fn prove(accounts: &Accounts, Ask { name, password, new_from, .. }: &Ask) -> Verdict {
    match accounts.get(name) {
        Ok(Some((account, hashed))) if hashed.is_of(password) => {
            if let Some(Err(error)) = new_from.map(|network| accounts.saw(name, network)) {
                warn!(%error, "a restart forgets where an account has logged in");
            }
            Verdict::Right(account)
        }
        Ok(Some(_)) => Verdict::Wrong,
        Ok(None) => {
            let _ = Hashed::nobodys().is_of(password);
            Verdict::Wrong
        }
        Err(error) => {
            warn!(%error, "logins fail");
            Verdict::Failed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_whom_a_thread_falls_is_answered_and_so_is_the_next() {
        let net = LastNet::default();
        let waiting = Arc::new((Mutex::<Waiting>::default(), Condvar::new()));
        let prove = |ask: &Ask| if ask.name == "ann" { panic!("on purpose") } else { Verdict::Wrong };
        let (at, falls) = (Arc::clone(&waiting), net.clone());
        let thread = std::thread::spawn(move || work(&at, &falls, prove));
        let checks = Checks { waiting, threads: vec![thread] };
        let ask = |name: &str| checks.ask(name.to_owned(), String::new(), None).unwrap().blocking_recv();
        assert!(matches!(ask("ann"), Ok(Verdict::Failed)));
        assert!(matches!(ask("bob"), Ok(Verdict::Wrong)));
        assert_eq!(net.falls().get(), 1);
    }
}
