//! `keel account`: who may log in.
//!
//! It works on the accounts of a data directory, whether a server runs on them or not; a server's next login goes by what was
//! done. A password comes from a prompt or the standard input, never from the command line, which others may see.

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use jiff::{Span, SpanRelativeTo, Timestamp};
use keel_server::accounts::{Account, Accounts, Ban, Hashed, check_password};

use crate::data::Data;
use crate::serve::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    data: Data,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make an account
    Add {
        /// What the pilot is called
        name: String,
        #[command(flatten)]
        password: Password,
    },
    /// Give an account another password
    Passwd {
        /// Whose
        name: String,
        #[command(flatten)]
        password: Password,
    },
    /// Let an account log in no more; one that plays goes on until it leaves or is kicked
    Ban {
        /// Whose
        name: String,
        /// For how long, such as 30m, 12h or 7d; for good if it is not said
        #[arg(long = "for", value_name = "TIME", value_parser = span)]
        span: Option<Duration>,
        /// Why, for the pilot to read
        #[arg(long, default_value = "", value_name = "TEXT")]
        reason: String,
    },
    /// Let an account log in again
    Unban {
        /// Whose
        name: String,
    },
    /// List all accounts
    List,
}

#[derive(clap::Args)]
struct Password {
    /// Read the password from the standard input, up to the end of its first line
    #[arg(long)]
    password_stdin: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let data = args.data.directory()?;
    // Only who makes an account begins a directory; the others are about what is there.
    let accounts = |is_new: bool| {
        if is_new {
            keel_server::make_data_directory(&data)
                .with_context(|| format!("cannot make the directory {}", data.display()))?;
        } else if !data.join(keel_server::accounts::FILE).exists() {
            bail!("there are no accounts in {}", data.display());
        }
        Ok(Accounts::open(&data)?)
    };
    match &args.command {
        Command::Add { name, password } => {
            let accounts = accounts(true)?;
            if accounts.get(name)?.is_some() {
                bail!("there is an account {name} already");
            }
            keel_protocol::check_name(name)?;
            accounts.add(name, &password.read(name)?)?;
            say(&format!("{name} has an account."));
        }
        Command::Passwd { name, password } => {
            let accounts = accounts(false)?;
            let Some((account, _)) = accounts.get(name)? else { bail!("there is no account {name}") };
            accounts.set_password(name, &password.read(&account.name)?)?;
            say(&format!("{} has another password.", account.name));
        }
        Command::Ban { name, span, reason } => {
            let ban = Ban::lasting(*span, reason.clone());
            accounts(false)?.ban(name, &ban)?;
            say(&match ban.until {
                None => format!("{name} is banned for good."),
                Some(until) => format!("{name} is banned until {}.", date(until)),
            });
        }
        Command::Unban { name } => {
            accounts(false)?.unban(name)?;
            say(&format!("{name} may log in."));
        }
        Command::List => {
            for account in accounts(false)?.list()? {
                say(&line(&account));
            }
        }
    }
    Ok(())
}

fn line(account: &Account) -> String {
    let Account { name, created, changed, ban } = account;
    let ban = match ban {
        None => String::new(),
        Some(Ban { until, why }) => {
            let end = until.map_or_else(|| "for good".to_owned(), |until| format!("until {}", date(until)));
            format!("  banned {end}{}{why}", if why.is_empty() { "" } else { ": " })
        }
    };
    format!("{name:20}  since {}  password of {}{ban}", date(*created), date(*changed))
}

impl Password {
    /// A new password, hashed. At a terminal it is asked for twice.
    fn read(&self, name: &str) -> anyhow::Result<Hashed> {
        let password = if self.password_stdin {
            first_line(&mut io::stdin().lock())?
        } else if io::stdin().is_terminal() {
            let password = prompt(&format!("Password for {name}: "))?;
            check_password(&password)?;
            if prompt("Again: ")? != password {
                bail!("those are two passwords");
            }
            password
        } else {
            bail!("there is no terminal to ask for a password at: give it with --password-stdin");
        };
        Ok(Hashed::of(&password)?)
    }
}

/// A password from wherever `keel fly` is told to look: a file, the terminal, or the standard input.
pub(crate) fn password_from(file: Option<&Path>, name: &str) -> anyhow::Result<String> {
    match file {
        Some(path) => {
            let mut file = std::fs::File::open(path)
                .with_context(|| format!("cannot read the password file {}", path.display()))?;
            first_line(&mut file)
        }
        None if io::stdin().is_terminal() => prompt(&format!("Password for {name}: ")),
        None => first_line(&mut io::stdin().lock()),
    }
}

/// The longest line that is read for a password.
const MOST_LINE: usize = 1024;

/// A line, and nothing behind it: what follows may be somebody else's to read.
fn first_line(from: &mut impl Read) -> anyhow::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() <= MOST_LINE && from.read(&mut byte).context("cannot read the password")? == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).ok().context("the password is not UTF-8")
}

fn prompt(text: &str) -> anyhow::Result<String> {
    rpassword::prompt_password(text).context("cannot ask for the password")
}

pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || "it is a time such as 30m, 12h or 7d".to_owned();
    let span: Span = text.parse().map_err(|_| wrong())?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    Duration::try_from(span).ok().filter(|span| span.as_secs() > 0).ok_or_else(wrong)
}

/// A time in seconds since 1970, in UTC.
fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "the end of time".to_owned(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_ban_is_read_and_one_of_no_length_is_none() {
        let minutes = |minutes: u64| Ok(Duration::from_secs(60 * minutes));
        for (text, expected) in
            [("30m", minutes(30)), ("12h", minutes(720)), ("7d", minutes(10_080)), ("1d 1h", minutes(1500))]
        {
            assert_eq!(span(text), expected, "{text}");
        }
        for text in ["", "0m", "-1d", "soon", "7", "1y"] {
            assert!(span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_is_a_line_and_what_follows_is_left() {
        for (text, password, rest) in [
            ("secret\nmore", "secret", "more"),
            ("secret\r\n", "secret", ""),
            ("secret", "secret", ""),
            ("\nx", "", "x"),
        ] {
            let mut from = text.as_bytes();
            assert_eq!(first_line(&mut from).unwrap(), password);
            assert_eq!(from, rest.as_bytes());
        }
        assert!(first_line(&mut [0xff_u8, 0xfe].as_slice()).is_err());
        assert!(first_line(&mut "x".repeat(1 << 20).as_bytes()).unwrap().len() < 2000, "without end");
    }

    #[test]
    fn an_account_is_listed_with_its_ban() {
        let ban = Some(Ban { until: Some(86_400), why: "Rude.".to_owned() });
        let account = Account { name: "ann".to_owned(), created: 0, changed: 60, ban };
        assert_eq!(
            line(&account),
            "ann                   since 1970-01-01T00:00:00Z  password of 1970-01-01T00:01:00Z  banned until 1970-01-02T00:00:00Z: Rude."
        );
    }
}
