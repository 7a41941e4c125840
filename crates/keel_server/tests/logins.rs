//! Logins over HTTP: what is answered to whom, how often, and how soon.

mod served;

use std::net::TcpStream;
use std::time::{Duration, Instant};

use keel_client::{Client, LoginError, Trust};
use keel_server::accounts::{Accounts, Ban};
use keel_server::http::Http;
use keel_server::{Access, Config, LoginRefusal, Server};

use served::config;
use served::secured::{PASSWORD, Secured, accounts, answer, asking, flying, login_of, logins, post, post_raw};

#[test]
fn an_unknown_name_and_a_wrong_password_are_answered_alike_and_as_late() {
    let server = Secured::start(&["ann"]);
    let ask = |nth: u8, name: &str| {
        let begun = Instant::now();
        let answer = post(server.login, &format!("192.0.2.{nth}"), name, "wrong password");
        assert_eq!(answer.status, 401);
        assert_eq!(answer.body, r#"{"error":"No account has that name and that password."}"#);
        begun.elapsed()
    };
    // In turn, so that whatever else the machine does falls on both.
    let (mut known, mut unknown): (Vec<_>, Vec<_>) =
        (0..9).map(|nth| (ask(nth, "ann"), ask(nth + 100, &format!("nobody{nth}")))).unzip();
    known.sort();
    unknown.sort();
    let (known, unknown) = (known[4].as_secs_f64(), unknown[4].as_secs_f64());
    assert!((0.6..1.7).contains(&(known / unknown)), "known {known} s, unknown {unknown} s");
    assert!(known > 0.005, "a password is not proven in {known} s");
    assert_eq!(server.counts.refused(LoginRefusal::Wrong), 18);
    server.end();
}

#[test]
fn what_is_no_login_is_refused_with_its_reason() {
    let server = Secured::start(&["ann"]);
    let long = format!(r#"{{"name":"ann","password":"{}"}}"#, "x".repeat(5000));
    for (body, status, says) in [
        ("", 400, "EOF"),
        ("nonsense", 400, "Failed to parse"),
        ("{}", 400, "missing field `name`"),
        (r#"{"name":"ann"}"#, 400, "missing field `password`"),
        (r#"{"name":7,"password":"x"}"#, 400, "expected a string"),
        (r#"{"name":"","password":"correct horse"}"#, 400, "1 to 20"),
        (r#"{"name":"two words","password":"correct horse"}"#, 400, "made of"),
        (r#"{"name":"ann\u0000","password":"correct horse"}"#, 400, "made of"),
        (r#"{"name":"ann","password":""}"#, 401, "No account"),
        (r#"{"name":"ann","password":"correct hors"}"#, 401, "No account"),
        (long.as_str(), 413, ""),
        (r#"[[[[[[[[[["#, 400, ""),
    ] {
        let answer = post_raw(server.login, "192.0.2.1", body);
        assert_eq!(answer.status, status, "{body:.60}: {answer:?}");
        assert!(answer.body.contains(says), "{body:.60}: {}", answer.body);
        assert!(!answer.body.contains("correct horse"), "a password is not repeated");
    }
    // And the next is taken.
    assert_eq!(post(server.login, "192.0.2.1", "ann", PASSWORD).status, 200);
    server.end();
}

#[test]
fn a_banned_account_is_told_why_and_only_whoever_has_its_password() {
    let server = Secured::start(&["ann"]);
    // Another process's doing: `keel account ban`.
    let operator = Accounts::open(server.data.path()).unwrap();
    let login = || post(server.login, "192.0.2.1", "ann", PASSWORD);
    assert_eq!(login().status, 200);
    operator.ban("ann", &Ban { until: None, why: "Rude.".to_owned() }).unwrap();
    assert_eq!((login().status, login().body.as_str()), (403, r#"{"error":"This account is banned for good: Rude."}"#));
    assert_eq!(post(server.login, "192.0.2.1", "ann", "wrong password").status, 401);
    let soon = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 90 * 60;
    operator.ban("ann", &Ban { until: Some(soon), why: String::new() }).unwrap();
    assert!(login().body.contains("banned for another 1 h 30 min\""), "{}", login().body);
    operator.unban("ann").unwrap();
    assert_eq!(login().status, 200);
    server.end();
}

#[test]
fn an_address_and_an_account_have_so_many_tries_and_others_are_not_bound_by_that() {
    let server = Secured::start(&["ann", "bob"]);
    assert_eq!(post(server.login, "198.51.100.1", "ann", PASSWORD).status, 200);
    let limited = |answer: &served::secured::Answer, says: &str| {
        assert!(answer.status == 429 && answer.body.contains(says), "{answer:?}");
        assert!(answer.retry_after().is_some_and(|wait| (1..=60).contains(&wait)), "{answer:?}");
    };
    // Many addresses of one IPv6 network are one caller. They try what names they like.
    let tries: Vec<_> = (0..40)
        .map(|nth| post(server.login, &format!("2001:db8:0:1::{nth}"), &format!("nobody{nth}"), "wrong password"))
        .collect();
    let heard = tries.iter().filter(|answer| answer.status == 401).count();
    assert!((20..=22).contains(&heard), "{heard}");
    limited(&tries[39], "from your address");
    assert_eq!(
        post(server.login, "2001:db8:0:2::1", "bob", PASSWORD).status,
        200,
        "the network beside it is not bound"
    );

    // And one name from many addresses.
    let tries: Vec<_> =
        (0..15).map(|nth| post(server.login, &format!("192.0.2.{nth}"), "ANN", "wrong password")).collect();
    let heard = tries.iter().filter(|answer| answer.status == 401).count();
    assert!((10..=11).contains(&heard), "{heard}");
    limited(&tries[14], "for this name");
    limited(&post(server.login, "192.0.2.200", "ann", PASSWORD), "for this name");
    // Whose it is plays on: it comes from where it was.
    assert_eq!(post(server.login, "198.51.100.1", "ann", PASSWORD).status, 200);
    assert!(server.counts.refused(LoginRefusal::Address) >= 18);
    assert!(server.counts.refused(LoginRefusal::Account) >= 5);
    server.end();
}

#[test]
fn whence_an_account_has_logged_in_is_known_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    drop(accounts(data.path(), ["ann".to_owned()]));
    let start = || {
        let server = Server::start(&Config { access: Access::Accounts(logins(data.path())), ..config() }).unwrap();
        let http = Http::start(vec![server.login_listener().unwrap()]).unwrap();
        (http.port(0).unwrap(), server, http)
    };
    let (login, server, http) = start();
    for caller in ["198.51.100.1", "2001:db8:0:1::7"] {
        assert_eq!(post(login, caller, "ann", PASSWORD).status, 200);
    }
    drop((server, http));
    let (login, _server, _http) = start();
    for nth in 0..10 {
        assert_eq!(post(login, &format!("192.0.2.{nth}"), "ann", "wrong password").status, 401);
    }
    assert_eq!(post(login, "192.0.2.200", "ann", PASSWORD).status, 429);
    for caller in ["198.51.100.1", "2001:db8:0:1::8"] {
        assert_eq!(post(login, caller, "ann", PASSWORD).status, 200, "{caller}");
    }
}

#[test]
fn when_the_accounts_cannot_be_read_it_is_said_when_to_try_again() {
    let server = Secured::start(&["ann"]);
    let file = rusqlite::Connection::open(server.data.path().join(keel_server::accounts::FILE)).unwrap();
    file.execute_batch("ALTER TABLE account RENAME TO gone").unwrap();
    let answer = post(server.login, "192.0.2.1", "ann", PASSWORD);
    assert_eq!((answer.status, answer.retry_after()), (503, Some(10)), "{answer:?}");
    assert_eq!(server.counts.refused(LoginRefusal::Failed), 1);
    server.end();
}

#[test]
fn a_stranger_who_says_for_whom_they_ask_is_not_believed() {
    let server = Secured::start_with(["ann".to_owned()], |config, logins| {
        logins.proxies = Default::default();
        config
    });
    let tries: Vec<_> = (0..30)
        .map(|nth| post(server.login, &format!("192.0.2.{nth}"), &format!("nobody{nth}"), "wrong password"))
        .collect();
    let limited = tries.iter().filter(|answer| answer.status == 429).count();
    assert!((8..=10).contains(&limited), "{limited}");
    server.end();
}

#[test]
fn good_logins_in_a_row_are_not_bound_like_wrong_ones() {
    let names: Vec<String> = (0..60).map(|nth| format!("p{nth}")).collect();
    let server = Secured::start_with(names.clone(), |config, _| config);
    for name in &names {
        assert_eq!(post(server.login, "192.0.2.1", name, PASSWORD).status, 200, "{name}");
    }
    server.end();
}

#[test]
fn more_than_can_wait_are_told_when_to_try_again_and_the_known_go_first() {
    let server = Secured::start(&["ann"]);
    assert_eq!(post(server.login, "198.51.100.1", "ann", PASSWORD).status, 200);
    let mut crowd: Vec<TcpStream> = (0..400)
        .map(|nth| {
            let caller = format!("10.0.{}.{}", nth / 200, nth % 200);
            asking(server.login, &caller, &login_of(&format!("nobody{nth}"), "wrong password"))
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(post(server.login, "198.51.100.1", "ann", PASSWORD).status, 200);
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(2), "one who was here before waits {waited:?} behind strangers");
    // The last one found a line that was full.
    let late = answer(crowd.pop().unwrap());
    assert!(late.status == 503 && late.retry_after() == Some(2), "{late:?}");
    // Who goes away is not waited for.
    drop(crowd);
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    assert_eq!(post(server.login, "192.0.2.1", "nobody", "wrong password").status, 401);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?} behind those who have gone", begun.elapsed());
    assert!(server.counts.refused(LoginRefusal::Busy) >= 10);
    server.end();
}

#[test]
fn a_client_is_told_what_the_server_says_and_when_to_try_again() {
    let server = Secured::start(&["ann", "bob"]);
    let ask = |name: &str, password: &str| keel_client::Login::ask(&server.url(), name, password, &Trust::Machine);
    let login = ask("ann", PASSWORD).unwrap();
    assert_eq!((login.name.as_str(), login.server), ("ann", server.address));
    flying(Client::connect_as(login).unwrap());
    let error = ask("ann", "wrong password").unwrap_err();
    assert!(matches!(&error, LoginError::Refused { after: None, .. }), "{error}");
    assert_eq!(error.to_string(), "No account has that name and that password.");
    server.admission.close(keel_server::Bar::Unsaved, "Nothing can be saved now.");
    let error = ask("bob", PASSWORD).unwrap_err();
    assert!(matches!(&error, LoginError::Refused { after: Some(_), .. }), "{error}");
    assert_eq!(error.to_string(), "Nothing can be saved now.");
    server.end();
}
