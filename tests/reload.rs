//! The balance file of a running server, as editors, scripts and orchestrators change it.

mod keel;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use keel::{Server, end, fly, get, has, keel, refused};
use keel_balance::Balance;

const SHIPPED: &str = include_str!("../balance.ron");

/// A balance like no other.
fn text(number: u32) -> String {
    SHIPPED.replacen("baseline: (hull: 400,", &format!("baseline: (hull: {},", 401 + number), 1)
}

fn hash(text: &str) -> String {
    format!("{:016x}", Balance::parse("", text).unwrap().hash())
}

struct Running {
    server: Server,
    directory: tempfile::TempDir,
}

impl Running {
    fn start(balance: &str, lay_out: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        lay_out(directory.path());
        let path = directory.path().join(balance);
        let server = Server::start_logged(directory.path(), &["--balance", path.to_str().unwrap()]);
        Self { server, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap()
    }

    /// Waits until the log has it so often.
    #[track_caller]
    fn logs(&self, words: &str, times: usize) {
        let start = Instant::now();
        while self.log().matches(words).count() < times {
            assert!(start.elapsed() < Duration::from_secs(10), "no {words:?} in\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The last of some edits lands, sooner than by a look now and then.
    #[track_caller]
    fn lands(&self, number: u32) {
        self.logs(&format!("the balance is reloaded: {}", hash(&text(number))), 1);
    }
}

fn replaced(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

#[test]
fn the_last_of_ten_edits_of_any_kind_lands_and_pilots_stay() {
    let running = Running::start("balance.ron", |at| fs::write(at.join("balance.ron"), SHIPPED).unwrap());
    let path = running.path("balance.ron");
    let last = format!("The balance has changed: {}.", hash(&text(40)));
    let pilot = fly(&running.server, "ann", &format!("await log {last} 60\n"));
    running.logs("joined", 1);
    // As an editor does that writes into the file, in two pieces.
    for number in 0..10 {
        fs::write(&path, "").unwrap();
        fs::write(&path, text(number)).unwrap();
    }
    running.lands(9);
    // As an editor does that keeps the old one beside it, and as a script does with mv.
    for number in 10..20 {
        if number % 2 == 0 {
            fs::rename(&path, path.with_extension("ron~")).unwrap();
            fs::write(&path, text(number)).unwrap();
        } else {
            replaced(&path, &text(number));
        }
    }
    running.lands(19);
    // Several times more, so that it was not the first watch that saw them all.
    for number in 20..24 {
        replaced(&path, &text(number));
        running.lands(number);
    }
    // A link in the place of the file, and then another one in the place of that.
    for number in 30..40 {
        let version = running.path(&format!("version-{number}"));
        fs::write(&version, text(number)).unwrap();
        let link = running.path("link");
        symlink(&version, &link).unwrap();
        fs::rename(&link, &path).unwrap();
    }
    running.lands(39);
    // What the link leads to.
    replaced(&running.path("version-39"), &text(40));
    running.lands(40);
    let (log, errors, content) = end(pilot);
    assert!(content, "{log}\n{errors}");
    has(&log, &[&last]);
}

#[test]
fn the_last_of_ten_swaps_of_the_directory_lands() {
    // As an orchestrator mounts a configuration: the file is a link through a directory that is a link.
    let swapped = |at: &Path, number: u32| {
        let version = at.join(format!("..{number}"));
        fs::create_dir(&version).unwrap();
        fs::write(version.join("balance.ron"), text(number)).unwrap();
        symlink(format!("..{number}"), at.join("..tmp")).unwrap();
        fs::rename(at.join("..tmp"), at.join("..data")).unwrap();
        if number > 0 {
            fs::remove_dir_all(at.join(format!("..{}", number - 1))).unwrap();
        }
    };
    let running = Running::start("config/balance.ron", |at| {
        fs::create_dir(at.join("config")).unwrap();
        swapped(&at.join("config"), 0);
        symlink("..data/balance.ron", at.join("config/balance.ron")).unwrap();
    });
    (1..=10).for_each(|number| swapped(&running.path("config"), number));
    running.lands(10);
    for number in 11..14 {
        swapped(&running.path("config"), number);
        running.lands(number);
    }
    // The directory itself, as a script moves a new one in.
    let (old, new, config) = (running.path("old"), running.path("new"), running.path("config"));
    fs::create_dir(&new).unwrap();
    fs::write(new.join("balance.ron"), text(20)).unwrap();
    fs::rename(&config, &old).unwrap();
    fs::rename(&new, &config).unwrap();
    running.lands(20);
    replaced(&config.join("balance.ron"), &text(21));
    running.lands(21);
}

#[test]
fn what_cannot_be_used_is_told_once_with_all_that_is_wrong_and_changes_nothing() {
    let running = Running::start("balance.ron", |at| fs::write(at.join("balance.ron"), text(0)).unwrap());
    let path = running.path("balance.ron");
    let stays = format!("the balance stays {}", hash(&text(0)));
    let line = 1 + SHIPPED.lines().position(|line| line.contains("baseline: (")).unwrap();
    // Broken in two places, half-written, empty, gone.
    replaced(&path, &text(0).replacen("shield: 100, volley: 100", "shield: -1, volley: \"x\"", 1));
    running.logs(&stays, 1);
    running.logs("has 2 faults:", 1);
    running.logs(&format!("balance.ron:{line}:"), 2);
    replaced(&path, &text(0)[..SHIPPED.len() / 2]);
    running.logs(&stays, 2);
    running.logs("this is not RON", 1);
    fs::write(&path, "").unwrap();
    running.logs(&stays, 3);
    fs::remove_file(&path).unwrap();
    running.logs(&stays, 4);
    running.logs("cannot read the balance file", 1);
    // Longer than it takes to look again: each is told once, unless someone asks.
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(running.log().matches(&stays).count(), 4, "{}", running.log());
    let server = running.server.process.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &server]).status().unwrap().success());
    running.logs(&stays, 5);
    assert!(!running.log().contains("the balance is reloaded"), "{}", running.log());
    // What it was is no news to the world, and something new is.
    fs::write(&path, text(0)).unwrap();
    running.logs("the balance file is sound again", 1);
    fs::write(&path, text(1)).unwrap();
    running.lands(1);
}

#[test]
fn a_file_that_is_not_watched_is_read_when_a_signal_asks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("balance.ron");
    fs::write(&path, SHIPPED).unwrap();
    let args = ["--balance", path.to_str().unwrap(), "--watch-balance=false"];
    let server = Server::start_logged(directory.path(), &args);
    let process = server.process.id().to_string();
    let running = Running { server, directory };
    fs::write(&path, text(5)).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(!running.log().contains("reloaded"));
    assert!(Command::new("kill").args(["-HUP", &process]).status().unwrap().success());
    running.lands(5);
}

#[test]
fn an_operator_has_the_file_read_and_is_told_what_is_wrong_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("balance.ron");
    fs::write(&path, SHIPPED).unwrap();
    let server = Server::start(&["--balance", path.to_str().unwrap(), "--watch-balance=false"]);
    let reload = || {
        let mut command = keel(&["admin", "--data"]);
        command.arg(server.data()).args(["reload", "balance"]);
        command
    };
    let done = |number: u32| {
        fs::write(&path, text(number)).unwrap();
        let said = String::from_utf8(reload().output().unwrap().stdout).unwrap();
        assert_eq!(said, format!("The balance is {}.\n", hash(&text(number))));
    };
    done(1);
    fs::write(&path, text(2).replacen("shield: 100, volley: 100", "shield: -1, volley: \"x\"", 1)).unwrap();
    let output = reload().output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && errors.contains("has 2 faults:"), "{errors}");
    assert_eq!(errors.matches("balance.ron:").count(), 2, "{errors}");
    fs::remove_file(&path).unwrap();
    refused(&mut reload(), "No such file or directory");
    done(1);
    done(3);
    let metrics = get(&server.metrics, "/metrics").1;
    has(&metrics, &["keel_balance_files_total{result=\"taken\"} 3", "keel_balance_files_total{result=\"refused\"} 2"]);
}
