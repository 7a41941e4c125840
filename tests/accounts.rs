//! Accounts as an operator makes them and a pilot uses them: `keel account`, `keel serve` and `keel fly --login`.

mod keel;

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use keel::{Server, end, has, keel, refused, script};

const PASSWORD: &str = "correct horse battery";

/// A command about the accounts of a data directory.
fn account(data: &Path, args: &[&str]) -> Command {
    let mut command = keel(&["account"]);
    command.args(args).arg("--data").arg(data);
    command
}

/// Runs a command to its end with that on its standard input; what it says, and whether it is content.
fn told(command: &mut Command, input: &str) -> (String, String, bool) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that does not read it is refused for something else.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.success())
}

fn add(data: &Path, name: &str) {
    let (said, errors, content) =
        told(&mut account(data, &["add", name, "--password-stdin"]), &format!("{PASSWORD}\n"));
    assert!(content && said == format!("{name} has an account.\n"), "{said}{errors}");
}

/// Flies a script of an account, with the password from its standard input; the log, and whether it was content.
fn flown(login: &str, name: &str, password: &str, lines: &str) -> (String, String, bool) {
    let file = script(lines);
    let mut command = keel(&["fly", "--login", login, "--name", name, "--script"]);
    told(command.arg(file.path()), &format!("{password}\n"))
}

#[test]
fn an_operator_makes_accounts_and_pilots_fly_by_them() {
    let place = tempfile::tempdir().unwrap();
    let data = &place.path().join("data");
    add(data, "Ann");
    assert_eq!(fs::metadata(data).unwrap().mode() & 0o777, 0o700);
    let (server, login) = Server::start_secured(data, &[]);
    for file in ["connect.key", "accounts.sqlite", "lock"] {
        assert_eq!(fs::metadata(data.join(file)).unwrap().mode() & 0o777, 0o600, "{file}");
    }
    let (log, errors, content) = flown(&login, "ann", PASSWORD, "dock\nawait docked 5\nshow fleet\n");
    assert!(content, "{log}\n{errors}");
    has(&log, &["L1 docked · you fly it"]);
    let (_, errors, content) = flown(&login, "ann", "incorrect horse", "wait 1\n");
    assert!(!content && errors == "keel: No account has that name and that password.\n", "{errors}");
    refused(&mut keel(&["fly", &server.address, "--name", "ann"]), "or it answers only those who log in");

    // While it runs: each is good at the next login.
    let done = |args: &[&str], input: &str, says: &str| {
        let (said, errors, content) = told(&mut account(data, args), input);
        assert!(content && said.starts_with(says), "{said}{errors}");
    };
    done(&["ban", "ANN", "--reason", "Rude."], "", "ANN is banned for good.");
    let (_, errors, content) = flown(&login, "ann", PASSWORD, "wait 1\n");
    assert!(!content && errors == "keel: This account is banned for good: Rude.\n", "{errors}");
    done(&["ban", "ann", "--for", "7d"], "", "ann is banned until 20");
    done(&["unban", "ann"], "", "ann may log in.");
    done(&["passwd", "ann", "--password-stdin"], "another horse", "Ann has another password.");
    add(data, "bob");
    assert!(!flown(&login, "ann", PASSWORD, "wait 0.1\n").2);
    let file = script("another horse\n");
    let script_by = script("wait 0.1\n");
    let mut command = keel(&["fly", "--login", &login, "--name", "ann", "--password-file"]);
    let (log, errors, content) =
        told(command.arg(file.path()).args(["--script", "-"]), &fs::read_to_string(script_by.path()).unwrap());
    assert!(content, "{log}\n{errors}");
    assert!(flown(&login, "bob", PASSWORD, "wait 0.1\n").2);
    done(&["ban", "bob", "--reason", "Ruder."], "", "bob is banned for good.");
    let (said, _, _) = told(&mut account(data, &["list"]), "");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("Ann ") && !lines[0].contains("banned"), "{said}");
    assert!(lines[1].starts_with("bob ") && lines[1].ends_with("banned for good: Ruder."), "{said}");
    assert!(server.stop("-TERM").1);

    // A restart knows the accounts, and has the key that it had.
    let key = fs::read(data.join("connect.key")).unwrap();
    let (_server, login) = Server::start_secured(data, &[]);
    assert!(flown(&login, "ann", "another horse", "wait 0.1\n").2);
    assert_eq!(fs::read(data.join("connect.key")).unwrap(), key);
    let log = fs::read_to_string(data.join("log")).unwrap();
    assert!(log.contains("logged in") && log.contains("a login with a wrong name or password"), "{log}");
    for secret in ["horse", "argon2"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn the_second_login_of_an_account_takes_over_and_the_first_is_told() {
    let data = tempfile::tempdir().unwrap();
    add(data.path(), "ann");
    let (_server, login) = Server::start_secured(data.path(), &[]);
    let (password, lines) = (script(&format!("{PASSWORD}\n")), script("wait 30\n"));
    let mut command = keel(&["fly", "--login", &login, "--name", "ann", "--password-file"]);
    let command = command.arg(password.path()).arg("--script").arg(lines.path());
    let first = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let (log, errors, content) = flown(&login, "ann", PASSWORD, "show fleet\n");
    assert!(content && log.contains("you fly it"), "{log}\n{errors}");
    let (_, errors, content) = end((first, lines));
    assert!(!content && errors.contains("You have connected from elsewhere."), "{errors}");
}

#[test]
fn an_operator_bans_who_plays_and_they_are_put_out_at_once() {
    let data = tempfile::tempdir().unwrap();
    add(data.path(), "ann");
    let (server, login) = Server::start_secured(data.path(), &[]);
    let admin = |args: &[&str]| {
        let mut command = keel(&["admin", "--data"]);
        command.arg(data.path()).args(args);
        command
    };
    let (password, lines) = (script(&format!("{PASSWORD}\n")), script("wait 30\n"));
    let mut command = keel(&["fly", "--login", &login, "--name", "ann", "--password-file"]);
    let command = command.arg(password.path()).arg("--script").arg(lines.path());
    let playing = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = std::time::Instant::now();
    while told(&mut admin(&["players"]), "").0.starts_with("Nobody") {
        assert!(start.elapsed() < std::time::Duration::from_secs(10));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (said, errors, _) = told(&mut admin(&["ban", "ANN", "--for", "2h", "Being", "rude."]), "");
    assert_eq!(said, "ANN is banned and put out.\n", "{errors}");
    let banned = "This account is banned for another 2 h 0 min: Being rude.";
    let (_, errors, content) = end((playing, lines));
    assert!(!content && errors.contains(banned), "{errors}");
    let (_, errors, content) = flown(&login, "ann", PASSWORD, "wait 1\n");
    assert!(!content && errors == format!("keel: {banned}\n"), "{errors}");
    assert_eq!(told(&mut admin(&["unban", "ann"]), "").0, "The account may log in.\n");
    assert!(flown(&login, "ann", PASSWORD, "wait 0.1\n").2);
    refused(&mut admin(&["ban", "bob"]), "there is no account bob");
    refused(&mut admin(&["unban", "bob"]), "there is no account bob");
    assert!(server.stop("-TERM").1);
}

#[test]
fn what_cannot_be_with_accounts_gets_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    refused(&mut account(&data, &["list"]), "there are no accounts in ");
    refused(&mut account(&data, &["ban", "ann"]), "there are no accounts in ");
    assert!(!data.exists(), "nothing is made by asking");
    add(&data, "ann");
    refused(&mut account(&data, &["add", "ANN", "--password-stdin"]), "there is an account ANN already");
    refused(&mut account(&data, &["add", "two words", "--password-stdin"]), "made of letters");
    refused(&mut account(&data, &["add", "bob"]), "there is no terminal to ask for a password at");
    refused(&mut account(&data, &["add", "bob", "--password-stdin"]), "a password has 8 to 256 bytes");
    refused(&mut account(&data, &["add", "bob", "--password", "correct horse"]), "unexpected argument '--password'");
    for args in [&["passwd", "bob", "--password-stdin"][..], &["ban", "bob"], &["unban", "bob"]] {
        refused(&mut account(&data, args), "there is no account bob");
    }
    refused(&mut account(&data, &["ban", "ann", "--for", "soon"]), "invalid value 'soon'");
    refused(
        &mut account(&data, &["ban", "ann", "--reason", "two\nlines"]),
        "a reason has at most 200 bytes in one line",
    );

    let serve = |args: &[&str]| {
        let mut command = keel(&["serve", "--bind", "127.0.0.1:0", "--login", "127.0.0.1:0", "--data"]);
        command.arg(&data).args(args);
        command
    };
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = keel(&["serve", "--bind", "127.0.0.1:0", "--login", &address, "--data"]);
    refused(command.arg(&data), &format!("cannot listen on {address}: "));
    let mut command = keel(&["serve", "--bind", "127.0.0.1:0", "--login", "0.0.0.0:0", "--data"]);
    refused(command.arg(&data), "logins there need a certificate, or a trusted proxy before them");
    refused(&mut serve(&["--login-certificate", "c.pem"]), "login_certificate is set, and login_key is not");
    refused(&mut serve(&["--login-key", "k.pem"]), "login_key is set, and login_certificate is not");
    refused(
        &mut serve(&["--login-certificate", "c.pem", "--login-key", "k.pem"]),
        "cannot use the certificate c.pem: ",
    );
    refused(&mut serve(&["--trusted-proxies", "here"]), "\"here\" is no address, such as 10.0.0.1");
    refused(&mut serve(&["--login-seconds", "0"]), "0 is not in 1..=300");
    let key = data.join("connect.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    refused(&mut serve(&[]), "is open to others (mode 640): chmod 600 it");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "short").unwrap();
    refused(&mut serve(&[]), "has 5 bytes and not 32");
    fs::remove_file(&key).unwrap();
    fs::write(data.join("accounts.sqlite"), "no database").unwrap();
    refused(&mut serve(&[]), "is no file of accounts");

    refused(&mut keel(&["fly", "--login", "here"]), "here is no address to log in at, such as https://");
    refused(&mut keel(&["fly", "--login", "http://192.0.2.1:7778"]), "a password goes to others only by https");
    refused(
        &mut keel(&["fly", "--login", &format!("http://{address}"), "--password-file", "no.txt"]),
        "cannot read the password file no.txt",
    );
    refused(&mut keel(&["fly", "127.0.0.1:1", "--login", "http://127.0.0.1:1"]), "cannot be used with");
    refused(&mut keel(&["fly", "--login", "http://127.0.0.1:1"]), "cannot log in at http://127.0.0.1:1: ");
    refused(&mut keel(&["fly", "--login", "http://127.0.0.1:1", "--script", "-"]), "give it with --password-file");
}

#[test]
fn a_server_that_has_no_accounts_yet_says_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new");
    let Output { stdout, .. } = {
        let mut command =
            keel(&["serve", "--bind", "127.0.0.1:0", "--login", "127.0.0.1:0", "--metrics", "off", "--data"]);
        let child = command.arg(&data).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
        child.wait_with_output().unwrap()
    };
    let said = String::from_utf8(stdout).unwrap();
    has(&said, &["Pilots with an account log in at http://127.0.0.1:", "keel account add NAME", "Stopped after "]);
    assert!(data.join("connect.key").exists());
}
