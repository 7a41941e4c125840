//! The product as its users run it: real processes, real sockets, text in and out.

mod keel;

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use keel::{Server, end, fly, keel, refused, script, wait};
use keel_client::{Client, ClientError, Event, Hello};

#[test]
fn two_pilots_fight_squads_to_the_end_over_udp_and_read_the_log() {
    let server = Server::start(&["--layer", "1", "--seed", "5"]);
    let pilots = ["ann", "bob"].map(|name| fly(&server, name, "hunt 60\nfight 120\nwait 0.5\n"));
    let mut killed = 0;
    for pilot in pilots {
        let (log, errors, content) = end(pilot);
        // The other may have won first: then there is nobody left to fight.
        assert!(content || errors.contains("nobody to fight"), "{log}\n{errors}");
        killed += log.lines().filter(|line| line.ends_with(" destroyed.")).count();
        let has = |text: &str| log.lines().any(|line| line.contains(text));
        assert!(has("  Locking. 2.00 s.") && has(" raw, "), "{log}");
        assert!(has("  Arrived at "), "{log}");
    }
    assert!(killed >= 2, "a squad of two was fought to the end");
    let (said, content) = server.stop("-TERM");
    assert!(content && said.starts_with("Stopped after "), "{said}");
}

#[test]
fn two_clients_see_each_other_and_only_what_is_public() {
    let server = Server::start(&["--layer", "3"]);
    let address = server.address.parse().unwrap();
    let mut clients = ["ann", "bob"].map(|name| Client::connect(address, Hello::new(name)).unwrap());
    let mut heard = [Vec::new(), Vec::new()];
    let meet = |clients: &mut [Client; 2], heard: &mut [Vec<Event>; 2], until: &dyn Fn(&[Client; 2]) -> bool| {
        let start = Instant::now();
        while !until(clients) {
            for (client, heard) in clients.iter_mut().zip(heard.iter_mut()) {
                heard.extend(client.poll().unwrap());
            }
            assert!(start.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let sees_pilot = |client: &Client| client.replica().contacts().any(|contact| contact.pilot != 0);
    meet(&mut clients, &mut heard, &|clients| clients.iter().all(sees_pilot));
    let ship = |client: &Client| client.replica().active().map(|ship| ship.id).unwrap();
    let (mine, theirs) = (ship(&clients[0]), ship(&clients[1]));
    assert_eq!(
        clients[0].replica().name(clients[0].replica().contact(theirs).unwrap()),
        format!("Human Patrol {theirs}")
    );
    let card = clients[0].replica().card(mine).unwrap();
    assert_eq!((card.volley, card.shield, card.hull, card.cycle), (90.0, 90.0, 360.0, 1_000_000));

    // Layer 3 is open fire: one locks the other, and both read about it.
    clients[0].send(keel_client::Command::Attack { ship: mine, target: theirs }).unwrap();
    meet(&mut clients, &mut heard, &|clients| {
        clients[1].replica().active().is_some_and(|ship| ship.hull < 360.0 || ship.shield.held < 90.0)
    });
    let lines = |heard: &[Event]| -> Vec<String> {
        let lines = heard.iter().filter_map(|event| match event {
            Event::Line(line) => Some(line.text.clone()),
            _ => None,
        });
        lines.collect()
    };
    assert!(lines(&heard[0]).contains(&"Locking. 2.00 s.".to_owned()), "{:?}", heard[0]);
    assert!(lines(&heard[1]).contains(&format!("ann's Patrol {mine} is locking you.")), "{:?}", heard[1]);
    let answers = heard[0].iter().filter(|event| matches!(event, Event::Answer(answer) if answer.accepted)).count();
    assert_eq!(answers, 1);
}

#[test]
fn the_configuration_is_printed_with_where_each_value_comes_from() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("keel.ron"), "(\n    layer: 3,\n    seed: 7,\n)").unwrap();
    let data_flag = format!("--data={}", data.path().display());
    let mut command = keel(&["serve", &data_flag, "--print-config", "--threads", "2"]);
    let Output { status, stdout, .. } = command.env("KEEL_SEED", "8").output().unwrap();
    assert!(status.success());
    let printed = String::from_utf8(stdout).unwrap();
    let row = |id: &str| {
        let row = printed.lines().find(|line| line.split_whitespace().next() == Some(id));
        row.unwrap_or_else(|| panic!("{id}: {printed}")).split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("layer"), format!("3 {}:2", data.path().join("keel.ron").display()));
    assert_eq!(row("seed"), "8 KEEL_SEED");
    assert_eq!(row("threads"), "2 --threads");
    assert_eq!(row("max_clients"), "256 default");

    refused(keel(&["serve"]).env("KEEL_BIND", "here"), "KEEL_BIND: \"here\" cannot be: invalid socket address syntax");
    std::fs::write(data.path().join("keel.ron"), "(\n    lyaer: 3)").unwrap();
    refused(&mut keel(&["serve", &data_flag]), "keel.ron:2:5: there is no setting lyaer; layer is one");
    refused(&mut keel(&["serve", "--config", "no.ron"]), "cannot read the settings file no.ron: ");
}

fn serve_with(balance: &Path) -> Command {
    let mut command = keel(&["--unsecured", "--ephemeral", "--bind", "127.0.0.1:0", "--balance"]);
    command.arg(balance);
    command
}

#[test]
fn bad_input_gets_one_clear_line() {
    let nowhere = tempfile::tempdir().unwrap();
    refused(keel(&[]).current_dir(nowhere.path()), "cannot read the balance file balance.ron: ");
    refused(&mut serve_with(Path::new("no/such.ron")), "cannot read the balance file no/such.ron: ");
    let shipped = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("balance.ron")).unwrap();
    let write = |text: String| {
        let path = nowhere.path().join("broken.ron");
        std::fs::write(&path, text).unwrap();
        path
    };
    let path = write(shipped.replace("hit: 1.0", "hit: 7").replace("resist_cap: 75", "resist_cap: nothing"));
    let errors = refused(&mut serve_with(&path), "broken.ron has 2 faults:");
    assert_eq!(errors.lines().count(), 3, "{errors}");
    assert!(errors.contains(": roll.hit: expected a chance from 0 to 1, found 7"), "{errors}");
    refused(&mut serve_with(&write(shipped[..300].to_owned())), "has 1 fault:");
    refused(&mut serve_with(&write("\0\u{1}".to_owned())), "has 1 fault:");
    refused(
        &mut serve_with(&write(shipped.replace("power_grid: 80", "power_grid: 10"))),
        "the balance makes ships that cannot be:",
    );
    std::fs::write(nowhere.path().join("bytes.ron"), [0xff, 0xfe]).unwrap();
    refused(&mut serve_with(&nowhere.path().join("bytes.ron")), "cannot read the balance file");

    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&mut keel(&["--unsecured", "--ephemeral", "--bind", &address]), &format!("cannot listen on {address}: "));
    refused(&mut keel(&["--unsecured", "--ephemeral", "--bind", "0.0.0.0:0"]), "0.0.0.0:0 is open to other machines");
    refused(&mut keel(&["--layer", "7"]), "there is no layer 7");
    refused(&mut keel(&["--max-clients", "0"]), "a server holds from 1 to 992 pilots");
    refused(&mut keel(&["--max-clients", "5000"]), "a server holds from 1 to 992 pilots");
    refused(&mut keel(&["--no-such-flag"]), "unexpected argument '--no-such-flag'");
    refused(&mut keel(&["--bind", "here"]), "invalid value 'here'");
    refused(&mut keel(&["sail"]), "'sail'");
    refused(&mut keel(&["balance", "check", "no.ron"]), "cannot read the balance file no.ron: ");

    refused(&mut keel(&["fly", "nowhere"]), "nowhere is no server's address");
    refused(&mut keel(&["fly", "--script", "no.txt"]), "cannot read the script no.txt");
    let bad = script("hold\nattack everyone\n");
    let mut command = keel(&["fly", "--script"]);
    refused(command.arg(bad.path()), "line 2: \"attack everyone\" is no order: say attack nearest|pilot|ID");
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    refused(&mut keel(&["fly", &silent]), &format!("no Keel server answers at {silent}"));
}

#[test]
fn a_client_of_another_version_or_with_a_bad_name_is_told_why() {
    let server = Server::start(&[]);
    let address = &server.address;
    refused(
        &mut keel(&["fly", address, "--protocol", "9"]),
        "This server speaks protocol version 5; your client speaks 9. Update the older one.",
    );
    refused(&mut keel(&["fly", address, "--name", "two words"]), "A name is made of letters, digits, - and _.");
    refused(&mut keel(&["fly", address, "--name", ""]), "A name has 1 to 20 characters.");
}

#[test]
fn a_full_server_says_so() {
    let server = Server::start(&["--max-clients", "1"]);
    let pilot = fly(&server, "ann", "wait 4\n");
    std::thread::sleep(Duration::from_millis(1500));
    refused(&mut keel(&["fly", &server.address, "--name", "bob"]), "is full");
    let (_, errors, content) = end(pilot);
    assert!(content, "{errors}");
}

#[test]
fn the_last_session_of_a_name_flies_and_the_one_before_is_told() {
    let server = Server::start(&[]);
    let address = server.address.parse().unwrap();
    let mut first = Client::connect(address, Hello::new("ann")).unwrap();
    let mut poll = |until: &mut dyn FnMut(&mut Client) -> bool| {
        let start = Instant::now();
        while !until(&mut first) {
            assert!(start.elapsed() < Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    poll(&mut |client| {
        client.poll().unwrap();
        client.replica().active().is_some()
    });
    let mut second = Client::connect(address, Hello::new("ANN")).unwrap();
    let mut ship = None;
    poll(&mut |client| {
        second.poll().unwrap();
        ship = second.replica().active().map(|ship| ship.id);
        match client.poll() {
            Err(ClientError::Refused(reason)) => {
                assert_eq!(reason, "You have connected from elsewhere.");
                true
            }
            other => other.is_err(),
        }
    });
    poll(&mut |_| {
        second.poll().unwrap();
        second.replica().active().is_some()
    });
    assert!(second.replica().contacts().all(|contact| contact.pilot == 0), "one pilot, one ship");
}

#[test]
fn a_stop_ends_the_server_content_and_its_pilots_informed() {
    for signal in ["-TERM", "-INT"] {
        let server = Server::start(&[]);
        let pilot = fly(&server, "ann", "wait 30\n");
        std::thread::sleep(Duration::from_millis(1500));
        let (said, content) = server.stop(signal);
        assert!(content && said.starts_with("Stopped after "), "{said}");
        let (_, errors, content) = end(pilot);
        assert!(!content && errors.contains("The server is stopping."), "{errors}");
    }
    // And at once, while it is starting.
    for after_ms in [0, 20, 50, 200] {
        let quiet = ["--unsecured", "--ephemeral", "--bind", "127.0.0.1:0", "--metrics", "off", "--admin", "off"];
        let mut process = keel(&quiet).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
        // Before the process has come as far as its first line the system's own way to stop is all there is.
        let status = wait(&mut process, Duration::from_secs(5));
        assert!(status.success() || after_ms == 0 || status.code().is_none(), "{status}");
    }
}

#[test]
fn the_shipped_balance_checks_out() {
    let Output { status, stdout, .. } = keel(&["balance", "check"]).output().unwrap();
    assert!(status.success());
    assert!(String::from_utf8(stdout).unwrap().starts_with("balance.ron is sound. Its hash is "));
}
