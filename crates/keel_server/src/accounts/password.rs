//! What proves a password: argon2id with 19 MiB and two passes, some 20 ms of a core each time.

use std::fmt;
use std::sync::LazyLock;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use thiserror::Error;

/// The memory that a hash takes, in KiB, and how often it is gone through: what OWASP advises at the least for argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;

/// The most that a stored hash may ask for: a file that someone changed is not to stop the server.
const MOST_MEMORY_KIB: u32 = 256 * 1024;
const MOST_PASSES: u32 = 16;

/// Bytes of a password.
const SHORTEST: usize = 8;
const LONGEST: usize = 256;

/// Why a password is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PasswordError {
    /// Too short or too long.
    #[error("a password has {SHORTEST} to {LONGEST} bytes")]
    Length,
    /// The system has no memory or no random numbers for it.
    #[error("cannot hash a password on this machine now")]
    Hash,
}

/// Whether that may be a password.
///
/// # Errors
/// With what is wrong with it.
pub fn check_password(password: &str) -> Result<(), PasswordError> {
    if (SHORTEST..=LONGEST).contains(&password.len()) { Ok(()) } else { Err(PasswordError::Length) }
}

/// What is kept of a password: nothing that it could be had back from. Not even that is printed.
#[derive(Clone)]
pub struct Hashed(String);

impl fmt::Debug for Hashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hashed")
    }
}

impl Hashed {
    /// Hashes a password with a salt of its own.
    ///
    /// # Errors
    /// When it is not taken.
    pub fn of(password: &str) -> Result<Self, PasswordError> {
        check_password(password)?;
        let hash = argon2().hash_password(password.as_bytes()).map_err(|_| PasswordError::Hash)?;
        Ok(Self(hash.to_string()))
    }

    /// One that was kept.
    pub(super) const fn stored(phc: String) -> Self {
        Self(phc)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// One that no password has, and that takes as long to find that out as any: for names that nobody has.
    pub(crate) fn nobodys() -> &'static Self {
        static NOBODYS: LazyLock<Hashed> = LazyLock::new(|| {
            let mut noise = [0; 32];
            // Without random numbers no account could be made either, so there is nobody to be told from.
            let _ = getrandom::fill(&mut noise);
            let hash = argon2().hash_password(&noise);
            Hashed(hash.map(|hash| hash.to_string()).unwrap_or_default())
        });
        &NOBODYS
    }

    /// Whether it is that password's. This takes its time.
    #[must_use]
    pub fn is_of(&self, password: &str) -> bool {
        let Ok(hash) = PasswordHash::new(&self.0) else { return false };
        let is_bounded = Params::try_from(&hash)
            .is_ok_and(|params| params.m_cost() <= MOST_MEMORY_KIB && params.t_cost() <= MOST_PASSES);
        is_bounded && argon2().verify_password(password.as_bytes(), &hash).is_ok()
    }
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_password_is_never_hashed_alike_and_proves_only_itself() {
        let (one, other) = (Hashed::of("correct horse").unwrap(), Hashed::of("correct horse").unwrap());
        assert_ne!(one.as_str(), other.as_str());
        assert!(one.is_of("correct horse") && !one.is_of("correct horsf") && !one.is_of(""));
        assert!(
            !Hashed::nobodys().is_of("") && Hashed::nobodys().as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$")
        );
        assert_eq!(format!("{one:?}"), "Hashed");
    }

    #[test]
    fn passwords_have_a_least_and_a_most_length() {
        for (length, taken) in [(0, false), (7, false), (8, true), (256, true), (257, false)] {
            assert_eq!(check_password(&"x".repeat(length)).is_ok(), taken, "{length}");
        }
    }

    #[test]
    fn a_hash_that_someone_has_made_or_that_asks_for_too_much_proves_nothing() {
        let good = Hashed::of("correct horse").unwrap();
        for stored in [
            String::new(),
            "nonsense".to_owned(),
            good.as_str().replace("m=19456", "m=4294967295"),
            good.as_str().replace("t=2", "t=4294967295"),
            good.as_str().replace("argon2id", "argon2x"),
            good.as_str()[..40].to_owned(),
        ] {
            assert!(!Hashed::stored(stored.clone()).is_of("correct horse"), "{stored}");
        }
    }
}
