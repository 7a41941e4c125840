//! The binary as a process: servers, and pilots who fly by scripts.

#![allow(dead_code, reason = "each test file uses its own part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(crate) const KEEL: &str = env!("CARGO_BIN_EXE_keel");

pub(crate) fn keel(args: &[&str]) -> Command {
    let mut command = in_place(KEEL.as_ref());
    command.args(args);
    command
}

/// A binary that runs where the balance is, at an hour when no storm is near.
fn in_place(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .env("KEEL_STORM_CLOCK", "2026-01-31T12:10:00Z");
    command
}

/// A server process on a port that the system chose; stopped when dropped.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: String,
    /// Where its numbers are, as IP:PORT.
    pub(crate) metrics: String,
    /// The data directory that goes with it, if it has one of its own.
    own: Option<tempfile::TempDir>,
    stdout: BufReader<std::process::ChildStdout>,
}

impl Server {
    /// One that takes whoever asks.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_with(args, |command| command.stderr(Stdio::null()))
    }

    /// One that takes whoever asks, with a data directory of its own.
    pub(crate) fn start_with(args: &[&str], set: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        Self::start_of(KEEL.as_ref(), args, set)
    }

    /// The same, of a binary that lies somewhere else.
    pub(crate) fn start_of(binary: &Path, args: &[&str], set: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut command = in_place(binary);
        command.args(["serve", "--unsecured", "--bind", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--data"]);
        let mut server = Self::spawn(set(command.arg(data.path()).args(args)));
        server.own = Some(data);
        server
    }

    /// One that takes whoever asks, and logs into `log` of a directory.
    pub(crate) fn start_logged(directory: &Path, args: &[&str]) -> Self {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(directory.join("log")).unwrap();
        let quiet = ["--ephemeral", "--metrics", "off", "--admin", "off"];
        Self::spawn(keel(&["serve", "--unsecured", "--bind", "127.0.0.1:0"]).args(quiet).args(args).stderr(log))
    }

    /// One with the accounts of a data directory, and the address where they log in. It logs there, into `log`.
    pub(crate) fn start_secured(data: &Path, args: &[&str]) -> (Self, String) {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(data.join("log")).unwrap();
        let mut command =
            keel(&["serve", "--bind", "127.0.0.1:0", "--login", "127.0.0.1:0", "--metrics", "off", "--data"]);
        let mut server = Self::spawn(command.arg(data).args(args).stderr(log));
        let mut line = String::new();
        server.stdout.read_line(&mut line).unwrap();
        let login = line.strip_prefix("Pilots with an account log in at ").and_then(|rest| rest.split(". ").next());
        let login = login.unwrap_or_else(|| panic!("the server said {line:?}")).trim().trim_end_matches('.').to_owned();
        (server, login)
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.strip_prefix("Keel listens on ").and_then(|rest| rest.split(": ").next());
        let address = address.unwrap_or_else(|| panic!("the server said {line:?}")).to_owned();
        let metrics = part(&line, "metrics on http://").unwrap_or_default();
        Self { process, address, metrics, own: None, stdout }
    }

    /// Its data directory.
    pub(crate) fn data(&self) -> &Path {
        self.own.as_ref().expect("it has one of its own").path()
    }

    /// Stops it as an operator does; what it said since, and whether it was content.
    pub(crate) fn stop(mut self, signal: &str) -> (String, bool) {
        let kill = Command::new("kill").args([signal, &self.process.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let status = wait(&mut self.process, Duration::from_secs(5));
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (rest, status.success())
    }
}

/// Says that a test cannot be made here for lack of something; where none may be left out, that is a failure.
pub(crate) fn lacks(what: &str) {
    assert!(std::env::var_os("KEEL_ALL_TESTS").is_none(), "this machine lacks {what}");
    eprintln!("NOT TESTED: this machine lacks {what}");
}

/// What follows a phrase of a line, up to the next comma or the sentence's end.
pub(crate) fn part(line: &str, phrase: &str) -> Option<String> {
    let rest = line.split(phrase).nth(1)?;
    let end = rest.find([',', '\n']).into_iter().chain(rest.find(". ")).min()?;
    Some(rest[..end].to_owned())
}

/// The status and the body of what a path answers.
pub(crate) fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: keel\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn wait(process: &mut Child, most: Duration) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = process.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < most, "the process did not end in {most:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn script(lines: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(lines.as_bytes()).unwrap();
    file
}

pub(crate) fn fly(server: &Server, name: &str, lines: &str) -> (Child, tempfile::NamedTempFile) {
    let file = script(lines);
    let mut command = keel(&["fly", &server.address, "--name", name, "--script"]);
    let child = command.arg(file.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    (child, file)
}

pub(crate) fn end((child, _file): (Child, tempfile::NamedTempFile)) -> (String, String, bool) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.success())
}

/// Flies a script to its end; the log.
#[track_caller]
pub(crate) fn flown(server: &Server, name: &str, script: &str) -> String {
    let (log, errors, content) = end(fly(server, name, script));
    assert!(content, "{log}\n{errors}");
    log
}

#[track_caller]
pub(crate) fn has(log: &str, parts: &[&str]) {
    for part in parts {
        assert!(log.contains(part), "no `{part}` in\n{log}");
    }
}

/// Runs to the end: one clear line (or a list under one), an exit code that is not 0, no panic, no backtrace.
#[track_caller]
pub(crate) fn refused(command: &mut Command, says: &str) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, errors) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.code().is_some_and(|code| code != 0), "{status}");
    let first = errors.lines().next().unwrap_or_default();
    assert!(first.starts_with("keel: ") && first.contains(says), "{errors}");
    for line in errors.lines().skip(1) {
        assert!(line.starts_with("  "), "not part of a list: {line:?}");
    }
    assert!(!errors.contains("panicked") && !errors.contains("stack backtrace"), "{errors}");
    assert!(out.is_empty(), "{out}");
    errors
}
