//! Who is let in by a token, and who is not.

mod served;

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use keel_client::{Client, ClientError, Command, Event, Hello, Login, LoginError, Trust};
use keel_protocol::{CHANNEL_ORDERED, NETCODE_ID, ToClient, ToServer, decode, encode};
use keel_server::{Access, Bar, Config, LoginRefusal, Reply, Request, Server, StartError};
use renetcode::{ClientAuthentication, ConnectToken};

use served::secured::{PASSWORD, Secured, accounts, flying, logins, post, token};
use served::{Rogue, config, pilot, steps_in_a_second};

/// How long one who is not answered tries.
const TRIED: Duration = Duration::from_millis(700);

const STALE: &str =
    "This login was used already, took too long to come, or was for this server before it restarted. Log in again.";

fn by(connect_token: ConnectToken) -> ClientAuthentication {
    ClientAuthentication::Secure { connect_token }
}

/// One turn of a server that goes on by hand.
fn go(server: &mut Server) {
    let _ = server.turn();
}

/// The token of a new login of a server's account.
fn fresh(server: &Secured, name: &str) -> ConnectToken {
    token(&post(server.login, "192.0.2.1", name, PASSWORD))
}

/// A token that somebody makes for a server, without having the server's key.
fn forged(server: SocketAddr, key: [u8; 32], life_s: u64) -> ConnectToken {
    let now = Duration::from_secs(1);
    ConnectToken::generate(now, NETCODE_ID, life_s, 1, 15, vec![server], Some(&[1; 256]), &key).unwrap()
}

/// Says hello and reads on until the server's first answer.
fn greeted(rogue: &mut Rogue, mut turn: impl FnMut()) -> ToClient {
    rogue.renet.send_message(CHANNEL_ORDERED, encode(&ToServer::Hello(Hello::new("somebody-else"))));
    first_word(rogue, &mut turn)
}

fn first_word(rogue: &mut Rogue, turn: &mut dyn FnMut()) -> ToClient {
    let start = Instant::now();
    loop {
        rogue.turn();
        turn();
        if let Some(bytes) = rogue.renet.receive_message(CHANNEL_ORDERED) {
            return decode(&bytes).unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(10), "no answer");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn refused(word: &ToClient) -> &str {
    match word {
        ToClient::Refused { reason } => reason,
        other => panic!("{other:?}"),
    }
}

/// Takes steps of a client until it ends; why.
fn end(client: &mut Client) -> ClientError {
    let start = Instant::now();
    loop {
        if let Err(error) = client.poll() {
            return error;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "it goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_login_connects_its_account_whatever_the_client_calls_itself() {
    let server = Secured::start(&["Ann", "bob"]);
    let mut ann = server.pilot("aNN");
    let mut rogue = Rogue::new(by(fresh(&server, "bob")));
    assert!(rogue.connects(TRIED, || {}));
    let ToClient::Welcome(welcome) = greeted(&mut rogue, || {}) else { panic!("bob is not let in") };
    let start = Instant::now();
    // He is known from the next step on.
    let bob = loop {
        ann.ask_who(keel_client::Who::Id(welcome.pilot)).unwrap();
        std::thread::sleep(Duration::from_millis(60));
        let events = ann.poll().unwrap();
        let known = events.into_iter().find_map(|event| match event {
            Event::Pilot(pilot) => pilot,
            _ => None,
        });
        if let Some(known) = known {
            break known;
        }
        assert!(start.elapsed() < Duration::from_secs(5));
    };
    assert_eq!(bob.name, "bob", "the name is the account's");
    assert_eq!(server.counts.accepted(), 2);
    server.end();
}

#[test]
fn tokens_that_are_not_this_servers_are_not_answered() {
    let server = Secured::start(&["ann"]);
    let other = Secured::start(&["ann"]);
    let mut ann = server.pilot("ann");
    // A key of zeros is what clients of unsecured servers seal with, and any key is as good as another one.
    let mut strangers: Vec<(&str, Rogue)> = [
        ("no key", forged(server.address, [0; 32], 30)),
        ("wrong key", forged(server.address, [7; 32], 30)),
        ("another server's", {
            let mut token = fresh(&other, "ann");
            token.server_addresses[0] = Some(server.address);
            token
        }),
        ("changed", {
            let mut token = fresh(&server, "ann");
            token.private_data[40] ^= 1;
            token
        }),
        ("longer lived", {
            let mut token = fresh(&server, "ann");
            token.expire_timestamp += 1000;
            token
        }),
    ]
    .into_iter()
    .map(|(kind, token)| (kind, Rogue::new(by(token))))
    .collect();
    let unsecured = ClientAuthentication::Unsecure {
        protocol_id: NETCODE_ID,
        client_id: 1,
        server_addr: server.address,
        user_data: None,
    };
    strangers.push(("no login", Rogue::new(unsecured)));
    // All at once: what there is to see is that nothing happens.
    std::thread::scope(|scope| {
        for (kind, rogue) in &mut strangers {
            scope.spawn(move || assert!(!rogue.connects(TRIED, || {}), "{kind}"));
        }
        let mut nobody = Client::connect(server.address, Hello::new("ann")).unwrap();
        let error = end(&mut nobody);
        assert!(matches!(error, ClientError::Unreachable(_)), "{error}");
        assert!(error.to_string().ends_with("or it answers only those who log in"), "{error}");
    });
    assert!(steps_in_a_second(&mut ann) >= 15, "and nobody else notices");
    server.end();
    other.end();
}

#[test]
fn a_token_of_a_key_that_two_servers_share_is_still_one_servers() {
    // A copy of the data directory, as one who moves a server to another machine makes it.
    let server = Secured::start(&["ann"]);
    let key = std::fs::read(server.data.path().join("connect.key")).unwrap();
    let other = Secured::start_with(["ann".to_owned()], |config, logins| {
        let path = logins.data.join("connect.key");
        std::fs::write(&path, &key).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        config
    });
    let mut token = fresh(&other, "ann");
    token.server_addresses[0] = Some(server.address);
    assert!(!Rogue::new(by(token)).connects(TRIED, || {}), "it names where it is good");
    server.end();
    other.end();
}

#[test]
fn a_token_from_before_a_restart_is_refused_with_its_reason() {
    let data = tempfile::tempdir().unwrap();
    drop(accounts(data.path(), ["ann".to_owned()]));
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let start = || {
        let access = Access::Accounts(logins(data.path()));
        let server = Server::start(&Config { bind: address, access, ..config() }).unwrap();
        let http = keel_server::http::Http::start(vec![server.login_listener().unwrap()]).unwrap();
        (http.port(0).unwrap(), server, http)
    };
    let (login, before, http) = start();
    let old = token(&post(login, "192.0.2.1", "ann", PASSWORD));
    drop((before, http));
    // The new process's clock begins anew, and so does the number of its first token.
    let (login, mut after, _http) = start();
    // The key and the address are the same, so that it connects; then it is out at once.
    let mut rogue = Rogue::new(by(old));
    assert_eq!(refused(&first_word(&mut rogue, &mut || go(&mut after))), STALE);
    let new = token(&post(login, "192.0.2.1", "ann", PASSWORD));
    let mut ann = Rogue::new(by(new.clone()));
    assert!(ann.connects(TRIED, || go(&mut after)));
    assert!(matches!(greeted(&mut ann, || go(&mut after)), ToClient::Welcome(_)));
    assert_eq!(after.login_counts().refused(LoginRefusal::Stale), 1);
}

#[test]
fn an_expired_token_connects_nobody_and_the_client_says_so() {
    let server = Secured::start_with(["ann".to_owned()], |config, logins| {
        logins.life = Duration::from_secs(1);
        config
    });
    let (late, login) = (fresh(&server, "ann"), server.login("ann"));
    std::thread::sleep(Duration::from_millis(2100));
    // The client's own clock says that there is a second left.
    assert!(!Rogue::new(by(late)).connects(Duration::from_millis(900), || {}));
    assert!(matches!(Client::connect_as(login), Err(ClientError::Expired)));
    server.end();
}

#[test]
fn the_clocks_of_machines_are_no_matter() {
    // A token's times are those of the server's process. A client whose clock is off by an hour, or by fifty years, connects.
    let server = Secured::start(&["ann"]);
    for token in [fresh(&server, "ann"), fresh(&server, "ann")] {
        let life = token.expire_timestamp - token.create_timestamp;
        assert!(token.create_timestamp < 1000 && life == 30, "{} {life}", token.create_timestamp);
        // A `Rogue`'s clock is the machine's, in seconds since 1970.
        assert!(Rogue::new(by(token)).connects(TRIED, || {}));
    }
    server.end();
}

#[test]
fn a_token_that_was_overheard_is_worth_nothing() {
    let server = Secured::start(&["ann"]);
    let overheard = fresh(&server, "ann");
    let mut ann = Rogue::new(by(overheard.clone()));
    let socket = ann.socket.try_clone().unwrap();
    assert!(ann.connects(TRIED, || {}));
    assert!(!Rogue::new(by(overheard.clone())).connects(TRIED, || _ = ann.turn()), "while its owner is here");
    assert!(matches!(greeted(&mut ann, || {}), ToClient::Welcome(_)));
    let mut words = 0;
    assert!(!Rogue::new(by(overheard.clone())).connects(TRIED, || words += usize::from(!ann.turn())));
    assert_eq!(words, 0, "its owner plays on");
    ann.netcode.disconnect().map(|(to, packet)| ann.socket.send_to(packet, to)).unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(
        !Rogue::new(by(overheard.clone())).connects(TRIED, || {}),
        "from another address, after its owner has left"
    );
    // Netcode takes it again from the address that it has seen; the server does not.
    let mut same = Rogue::over(socket, by(overheard));
    assert_eq!(refused(&first_word(&mut same, &mut || {})), STALE);
    server.end();
}

/// A secured server that goes on by hand, and tokens of its account `ann` in the order of their logins.
fn by_hand(data: &std::path::Path, tokens: usize) -> (Server, Vec<ConnectToken>) {
    drop(accounts(data, ["ann".to_owned()]));
    let server = Server::start(&Config { access: Access::Accounts(logins(data)), ..config() }).unwrap();
    let http = keel_server::http::Http::start(vec![server.login_listener().unwrap()]).unwrap();
    let login = http.port(0).unwrap();
    let tokens = (0..tokens).map(|_| token(&post(login, "192.0.2.1", "ann", PASSWORD))).collect();
    (server, tokens)
}

#[test]
fn one_account_twice_in_the_same_step_is_one_pilot_and_the_later_login_flies() {
    for later_first in [false, true] {
        let data = tempfile::tempdir().unwrap();
        let (mut server, tokens) = by_hand(data.path(), 2);
        let mut sessions: Vec<Rogue> = tokens.into_iter().map(|token| Rogue::new(by(token))).collect();
        for session in &mut sessions {
            assert!(session.connects(TRIED, || go(&mut server)));
        }
        // Both hellos lie in the socket when the server looks.
        let order = if later_first { [1, 0] } else { [0, 1] };
        for at in order {
            let session = &mut sessions[at];
            session.renet.send_message(CHANNEL_ORDERED, encode(&ToServer::Hello(Hello::new("ann"))));
            session.turn();
        }
        std::thread::sleep(Duration::from_millis(20));
        let [first, second] = &mut sessions[..] else { unreachable!() };
        let start = Instant::now();
        let (mut to_first, mut to_second) = (Vec::new(), Vec::new());
        while start.elapsed() < Duration::from_secs(1) {
            server.turn();
            for (session, told) in [(&mut *first, &mut to_first), (&mut *second, &mut to_second)] {
                session.turn();
                while let Some(bytes) = session.renet.receive_message(CHANNEL_ORDERED) {
                    told.push(decode::<ToClient>(&bytes).unwrap());
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let is_refused = |word: &ToClient| matches!(word, ToClient::Refused { reason } if reason == "You have connected from elsewhere.");
        assert!(to_first.iter().any(is_refused), "later first: {later_first}, {to_first:?}");
        assert!(matches!(to_second[0], ToClient::Welcome(_)) && !to_second.iter().any(is_refused));
        let ToClient::Welcome(welcome) = &to_second[0] else { unreachable!() };
        let sight = server.sight(welcome.pilot).unwrap();
        assert_eq!(sight.own.len(), 1, "one pilot, one ship");
        assert!(sight.contacts.iter().all(|contact| contact.pilot == 0), "and no second body");
    }
}

#[test]
fn an_earlier_login_that_comes_late_takes_nothing_over() {
    let data = tempfile::tempdir().unwrap();
    let (mut server, mut tokens) = by_hand(data.path(), 2);
    let (later, earlier) = (tokens.pop().unwrap(), tokens.pop().unwrap());
    let mut flies = Rogue::new(by(later));
    assert!(flies.connects(TRIED, || go(&mut server)));
    assert!(matches!(greeted(&mut flies, || go(&mut server)), ToClient::Welcome(_)));
    let mut late = Rogue::new(by(earlier));
    let both = |server: &mut Server, flies: &mut Rogue| {
        server.turn();
        assert!(flies.turn());
    };
    assert!(late.connects(TRIED, || both(&mut server, &mut flies)));
    assert_eq!(refused(&greeted(&mut late, || both(&mut server, &mut flies))), "You have connected from elsewhere.");
    while let Some(bytes) = flies.renet.receive_message(CHANNEL_ORDERED) {
        assert!(!matches!(decode(&bytes), Ok(ToClient::Refused { .. })));
    }
}

#[test]
fn what_an_old_session_has_ordered_is_not_done_once_it_is_taken_over() {
    let data = tempfile::tempdir().unwrap();
    let (mut server, tokens) = by_hand(data.path(), 2);
    let mut sessions: Vec<Rogue> = tokens.into_iter().map(|token| Rogue::new(by(token))).collect();
    let [old, new] = &mut sessions[..] else { unreachable!() };
    for session in [&mut *old, &mut *new] {
        assert!(session.connects(TRIED, || go(&mut server)));
    }
    let ToClient::Welcome(welcome) = greeted(old, || go(&mut server)) else { panic!("not let in") };
    let start = Instant::now();
    while server.sight(welcome.pilot).is_none_or(|sight| sight.own.is_empty()) {
        server.turn();
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    let ship = server.sight(welcome.pilot).unwrap().own[0].id;
    // The order, the hello of the new session and one more order lie in the socket together.
    let order = |seq| ToServer::Op { seq, command: Command::Move { ship, col: 2, row: 0 } };
    old.renet.send_message(CHANNEL_ORDERED, encode(&order(77)));
    old.turn();
    new.renet.send_message(CHANNEL_ORDERED, encode(&ToServer::Hello(Hello::new("ann"))));
    new.turn();
    old.renet.send_message(CHANNEL_ORDERED, encode(&order(78)));
    old.turn();
    std::thread::sleep(Duration::from_millis(20));
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(1500) {
        server.turn();
        old.turn();
        new.turn();
        while let Some(bytes) = new.renet.receive_message(CHANNEL_ORDERED) {
            let word = decode::<ToClient>(&bytes).unwrap();
            assert!(!matches!(word, ToClient::Answer(_)), "{word:?}");
        }
        // Still there, it goes on ordering.
        old.renet.send_message(CHANNEL_ORDERED, encode(&order(79)));
        std::thread::sleep(Duration::from_millis(5));
    }
    let own = &server.sight(welcome.pilot).unwrap().own[0];
    assert_eq!((own.id, own.col, own.row, own.course.len()), (ship, 0, 0, 0), "it has not moved");
}

#[test]
fn whose_client_has_crashed_is_back_in_two_seconds_even_on_a_full_server() {
    let server =
        Secured::start_with(["ann", "bob"].map(str::to_owned), |config, _| Config { max_clients: 1, ..config });
    let early = server.login("bob");
    let ann = server.pilot("ann");
    let ship = ann.replica().active().unwrap().id;
    let full = "This server is full: it has its 1 pilots.";
    let error = end(&mut Client::connect_as(early).unwrap());
    assert_eq!(error.to_string(), full, "one who logged in before");
    let answer = post(server.login, "192.0.2.1", "bob", PASSWORD);
    assert_eq!((answer.status, answer.body), (503, format!("{{\"error\":\"{full}\"}}")));
    assert_eq!(post(server.login, "192.0.2.1", "bob", "wrong password").status, 401);
    for round in 0..3 {
        let start = Instant::now();
        let again = server.pilot("ann");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(again.replica().active().unwrap().id, ship, "round {round}");
        // No goodbye: the process is gone.
        std::mem::forget(again);
    }
    std::mem::forget(ann);
    server.end();
}

#[test]
fn nobody_new_is_let_in_while_the_server_is_closed_and_who_is_in_stays() {
    let server = Secured::start(&["ann", "bob"]);
    let mut ann = server.pilot("ann");
    let early = server.login("bob");
    server.admission.close(Bar::Draining, "The server stops at noon.");
    let answer = post(server.login, "192.0.2.1", "bob", PASSWORD);
    assert_eq!(answer.status, 503);
    assert_eq!(answer.body, r#"{"error":"The server stops at noon."}"#);
    assert!(answer.retry_after().is_some());
    let error = end(&mut Client::connect_as(early).unwrap());
    assert_eq!(error.to_string(), "The server stops at noon.", "nor one who logged in before");
    assert!(steps_in_a_second(&mut ann) >= 15);
    // No goodbye: the process is gone. Who was in is in.
    std::mem::forget(ann);
    drop(server.pilot("ann"));
    server.admission.open(Bar::Draining);
    flying(Client::connect_as(server.login("bob")).unwrap());
    server.end();
}

#[test]
fn a_token_that_is_not_good_any_more_takes_no_place() {
    let data = tempfile::tempdir().unwrap();
    let (mut server, tokens) = by_hand(data.path(), 6);
    // Four of an account are good. The two before are netcode's still.
    for (n, token) in tokens.into_iter().enumerate() {
        let mut rogue = Rogue::new(by(token));
        if n < 2 {
            assert_eq!(refused(&first_word(&mut rogue, &mut || go(&mut server))), STALE, "{n}");
            assert_eq!(connections(&mut server), 0, "{n}");
        } else {
            assert!(rogue.connects(TRIED, || go(&mut server)), "{n}");
            assert_eq!(connections(&mut server), n - 1, "{n}");
        }
    }
}

/// How many connections a server that goes on by hand has.
fn connections(server: &mut Server) -> usize {
    let mut answered = server.handle().console.ask(Request::Status).unwrap();
    go(server);
    match answered.try_recv().unwrap() {
        Ok(Reply::Status(overview)) => overview.connections,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_ban_is_told_at_the_next_login_and_takes_back_what_was_given() {
    let data = tempfile::tempdir().unwrap();
    let (mut server, mut tokens) = by_hand(data.path(), 2);
    let ban = Request::Ban { name: "ANN".to_owned(), seconds: None, why: String::new() };
    let mut answered = server.handle().console.ask(ban).unwrap();
    go(&mut server);
    assert_eq!(answered.try_recv().unwrap(), Ok(Reply::Done("ANN is banned.".to_owned())));
    let mut rogue = Rogue::new(by(tokens.pop().unwrap()));
    assert_eq!(refused(&first_word(&mut rogue, &mut || go(&mut server))), STALE);
}

#[test]
fn a_server_holds_no_more_pilots_than_leave_room_for_those_who_take_over() {
    let start = |max_clients| Server::start(&Config { max_clients, ..config() });
    assert!(start(992).is_ok());
    for asked in [993, 1024, u16::MAX, 0] {
        let error = start(asked).err().unwrap().to_string();
        assert_eq!(error, format!("a server holds from 1 to 992 pilots at once, not {asked}"));
    }
}

#[test]
fn a_server_does_not_start_where_passwords_or_names_would_be_anyones() {
    let data = tempfile::tempdir().unwrap();
    let everywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let error = |config: &Config| Server::start(config).map(|_| ()).unwrap_err();
    assert!(matches!(error(&Config { bind: everywhere, ..config() }), StartError::Open(_)));
    let taken = |set: &dyn Fn(&mut keel_server::LoginConfig)| {
        let mut taken = logins(data.path());
        set(&mut taken);
        Config { bind: everywhere, access: Access::Accounts(taken), ..config() }
    };
    let open = error(&taken(&|logins| (logins.bind, logins.proxies) = (everywhere, Default::default())));
    assert_eq!(
        open.to_string(),
        "0.0.0.0:0 is open to other machines: logins there need a certificate, or a trusted proxy before them"
    );
    for life in [Duration::ZERO, Duration::from_secs(301)] {
        assert!(matches!(error(&taken(&|logins| logins.life = life)), StartError::LoginLife(_)));
    }
    // With accounts it may listen everywhere.
    Server::start(&taken(&|_| {})).unwrap();
    let key = data.path().join("connect.key");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    assert!(matches!(error(&taken(&|_| {})), StartError::Key(_)));
    // And one that takes whoever asks needs none of that.
    let server = served::Running::start();
    pilot(server.address, "ann");
    server.end();
}

#[test]
fn a_server_that_listens_everywhere_is_found_where_it_was_logged_in_at() {
    let server =
        Secured::start_with(["ann".to_owned()], |config, _| Config { bind: "0.0.0.0:0".parse().unwrap(), ..config });
    let login = server.login("ann");
    assert_eq!(login.server, SocketAddr::from(([127, 0, 0, 1], server.address.port())));
    flying(Client::connect_as(login).unwrap());
    server.end();
}

#[test]
fn a_login_over_tls_needs_whom_to_trust() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = keel_server::http::Tls::load(&certificate, &key).unwrap();
    let server = Secured::start_with(["ann".to_owned()], |config, logins| {
        logins.tls = Some(tls);
        config
    });
    let url = format!("https://localhost:{}", server.login.port());
    let ask = |trust: &Trust| Login::ask(&url, "ann", PASSWORD, trust);
    assert!(matches!(ask(&Trust::Machine), Err(LoginError::Unreachable { .. })), "nobody has signed it");
    let login = ask(&Trust::Pem(made.cert.pem())).unwrap();
    flying(Client::connect_as(login).unwrap());
    let plain = Login::ask(&server.url(), "ann", PASSWORD, &Trust::Machine).unwrap_err();
    assert!(matches!(plain, LoginError::Unreachable { .. } | LoginError::Answer(_)), "{plain}");
    server.end();
}
