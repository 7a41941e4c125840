//! What an operator does with a server that runs, and what it does when it is told to stop or hangs.

mod keel;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use keel::{KEEL, Server, get, keel, part, refused, wait};
use keel_client::{Client, ClientError, Event, Hello};

/// A command of the console, by the server's socket.
fn admin(server: &Server, args: &[&str]) -> Command {
    let mut command = keel(&["admin", "--data"]);
    command.arg(server.data()).args(args);
    command
}

#[track_caller]
fn said(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// A pilot who plays.
fn join(server: &Server, name: &str) -> Client {
    let mut client = Client::connect(server.address.parse().unwrap(), Hello::new(name)).unwrap();
    until(&mut client, |client, _| client.replica().active().is_some());
    client
}

/// Polls until something is so.
#[track_caller]
fn until(client: &mut Client, mut is_so: impl FnMut(&Client, &[Event]) -> bool) {
    let start = Instant::now();
    loop {
        let events = client.poll().unwrap();
        if is_so(client, &events) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Why a client is put out.
#[track_caller]
fn last_words(client: &mut Client) -> String {
    let start = Instant::now();
    loop {
        match client.poll() {
            Err(ClientError::Refused(reason)) => return reason,
            Err(error) => panic!("{error}"),
            Ok(_) => assert!(start.elapsed() < Duration::from_secs(10)),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn hears(events: &[Event], text: &str) -> bool {
    events.iter().any(|event| matches!(event, Event::Line(line) if line.text == text))
}

#[test]
fn an_operator_looks_at_a_server_and_has_it_do_things() {
    let server = Server::start(&["--name", "Deep end", "--max-clients", "9", "--save-steps", "72000"]);
    let mut ann = join(&server, "ann");

    let status = said(&mut admin(&server, &["status"]));
    assert!(status.contains("name     Deep end") && status.contains("1 of 9"), "{status}");
    let players: serde_json::Value = serde_json::from_str(&said(&mut admin(&server, &["--json", "players"]))).unwrap();
    let player = &players["players"][0];
    assert_eq!((player["name"].as_str(), player["maps"][0].as_str()), (Some("ann"), Some("layer-1")));
    assert!(player["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{player}");

    assert_eq!(said(&mut admin(&server, &["announce", "Dinner", "is served."])), "1 pilot told.\n");
    until(&mut ann, |_, events| hears(events, "Announcement: Dinner is served."));
    refused(&mut admin(&server, &["announce", "a\u{1b}[2Jb"]), "A text has no control characters.");

    assert_eq!(said(&mut admin(&server, &["force", "storm", "rift-2"])), "A storm lands on Rift 2.\n");
    assert_eq!(said(&mut admin(&server, &["force", "incursion", "layer-2"])), "An incursion comes to Layer 2.\n");
    refused(&mut admin(&server, &["force", "incursion", "layer-2"]), "There is an incursion on that map already.");
    assert_eq!(said(&mut admin(&server, &["spawn", "layer-6", "1", "-1"])), "A squad is on Layer 6 at 1 -1.\n");
    refused(&mut admin(&server, &["spawn", "layer-6", "99", "0"]), "There is no such sector.");
    refused(&mut admin(&server, &["force", "storm", "layer-7"]), "layer-7");
    refused(&mut admin(&server, &["hang"]), "This server takes no operator's orders.");

    said(&mut admin(&server, &["stop", "2", "Back", "soon."]));
    until(&mut ann, |_, events| hears(events, "The server stops in 2 minutes. Back soon."));
    said(&mut admin(&server, &["stop", "--cancel"]));
    until(&mut ann, |_, events| hears(events, "The server does not stop after all."));
    refused(&mut admin(&server, &["stop", "--cancel"]), "No stop lies ahead.");

    said(&mut admin(&server, &["drain"]));
    assert_eq!(get(&server.metrics, "/readyz").0, 503);
    let mut bob = Client::connect(server.address.parse().unwrap(), Hello::new("bob")).unwrap();
    assert_eq!(last_words(&mut bob), "This server lets nobody in at present. Try again later.");
    until(&mut ann, |_, _| true);
    said(&mut admin(&server, &["drain", "--off"]));
    assert_eq!(get(&server.metrics, "/readyz").0, 200);

    let saved = said(&mut admin(&server, &["save"]));
    assert!(saved.starts_with("The world is saved as it was after step "), "{saved}");
    refused(&mut admin(&server, &["ban", "ann"]), "This server has no accounts: it takes whoever asks.");

    refused(&mut admin(&server, &["kick", "bob"]), "Nobody of that name plays.");
    assert_eq!(said(&mut admin(&server, &["kick", "ANN", "Enough", "of", "you."])), "ANN is put out.\n");
    assert_eq!(last_words(&mut ann), "Enough of you.");

    let mut cid = join(&server, "cid");
    said(&mut admin(&server, &["stop", "0"]));
    assert_eq!(last_words(&mut cid), "The server is stopping.");
    let mut server = server;
    assert!(wait(&mut server.process, Duration::from_secs(10)).success());
    refused(&mut admin(&server, &["status"]), "no server listens at ");
}

#[test]
fn a_stop_that_an_operator_announces_comes_when_it_is_due_and_its_seconds_are_told() {
    // By JSON, as a program would: the console's own command counts in minutes.
    let mut server = Server::start(&[]);
    let mut ann = join(&server, "ann");
    let answer = post(&server.data().join("admin.sock"), r#"{"stop":{"seconds":2,"why":""}}"#);
    assert!(answer.contains("The server stops in 2 seconds."), "{answer}");
    until(&mut ann, |_, events| hears(events, "The server stops in 1 second."));
    assert_eq!(last_words(&mut ann), "The server is stopping.");
    assert!(wait(&mut server.process, Duration::from_secs(10)).success());
}

/// What the console's socket answers to a body; nothing if it hangs up on one that is far too long before its answer is read.
fn post(socket: &Path, body: &str) -> String {
    let hung_up = |error: std::io::Error| match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    };
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    let head = format!("Host: keel\r\nConnection: close\r\nContent-Length: {}", body.len());
    write!(stream, "POST /command HTTP/1.1\r\n{head}\r\nContent-Type: application/json\r\n\r\n{body}")
        .or_else(hung_up)
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map(drop).or_else(hung_up).unwrap();
    answer
}

#[test]
fn the_console_refuses_what_makes_no_sense_and_goes_on() {
    let server = Server::start(&[]);
    let socket = server.data().join("admin.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    for body in [
        "",
        "{}",
        "nonsense",
        r#"{"status":1}"#,
        r#"{"sail":{}}"#,
        r#"{"stop":{"seconds":-1,"why":""}}"#,
        r#"{"stop":{"seconds":4294967295,"why":""}}"#,
        r#"{"stop":{"seconds":1e99,"why":""}}"#,
        r#"{"spawn":{"map":"layer-1","col":99999999999,"row":0}}"#,
        r#"{"spawn":{"map":"layer-1","col":2147483647,"row":-2147483648}}"#,
        r#"{"storm":{"map":"layer-1","extra":0}}"#,
        r#"{"announce":{"text":"a\nb"}}"#,
        r#"{"announce":{"text":" "}}"#,
        &format!(r#"{{"announce":{{"text":"{}"}}}}"#, "x".repeat(501)),
        &format!(r#"{{"announce":{{"text":"{}"}}}}"#, "x".repeat(100_000)),
    ] {
        let answer = post(&socket, body);
        let is_dropped = answer.is_empty() && body.len() > 16 * 1024;
        assert!(is_dropped || answer.starts_with("HTTP/1.1 4"), "{body:.80}: {answer}");
    }
    assert!(post(&socket, r#""status""#).starts_with("HTTP/1.1 200"));
    assert!(server.stop("-TERM").1);
    assert!(!socket.exists());
}

#[test]
fn a_console_on_a_port_takes_only_those_who_have_the_token_and_is_off_without_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    std::fs::write(path, "correct-horse-battery\n").unwrap();
    let start = |path: &str| {
        let args = ["--admin", "127.0.0.1:0", "--admin-token-file", path];
        let data = tempfile::tempdir().unwrap();
        let mut command = keel(&["serve", "--unsecured", "--bind", "127.0.0.1:0", "--metrics", "off", "--data"]);
        let mut process =
            command.arg(data.path()).args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(process.stdout.take().unwrap()), &mut line).unwrap();
        (Killed(process), part(&line, "console at "))
    };
    let (_server, address) = start(path);
    let address = address.unwrap();
    let by = |file: &Path| {
        let mut command = keel(&["admin", "--address", &address, "--token-file"]);
        command.arg(file).arg("status");
        command
    };
    assert!(said(&mut by(file.path())).contains("players  0 of 256"));
    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(other.path(), "correct-horse-batterY\n").unwrap();
    refused(&mut by(other.path()), "The token is missing or wrong.");
    for _ in 0..9 {
        assert_eq!(get(&address, "/command").0, 401);
    }
    refused(&mut by(file.path()), "Too many wrong tokens.");
    // No argument of any process has the token, and no answer.
    std::fs::write(path, "").unwrap();
    let (_server, address) = start(path);
    assert_eq!(address, None, "an empty token is none: off, not open");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let data = tempfile::tempdir().unwrap();
    let mut command =
        keel(&["serve", "--unsecured", "--bind", "127.0.0.1:0", "--metrics", "off", "--admin", "127.0.0.1:0"]);
    refused(command.arg("--admin-token-file").arg(path).arg("--data").arg(data.path()), "can be read by others");
    refused(&mut keel(&["serve", "--admin", "0.0.0.0:7000"]), "it is no address of this machine alone");
}

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn anyone_may_ask_how_a_server_is() {
    let server = Server::start(&["--name", "Deep end"]);
    let _ann = join(&server, "ann");
    std::thread::sleep(Duration::from_millis(100));
    let said = said(&mut keel(&["status", &server.address]));
    assert!(said.starts_with("Deep end: Keel ") && said.contains("1 of 256 pilots"), "{said}");
    let (status, body) = get(&server.metrics, "/status");
    let by_http: serde_json::Value = serde_json::from_str(&body).unwrap();
    let by_udp: serde_json::Value =
        serde_json::from_str(&self::said(&mut keel(&["status", &server.address, "--json"]))).unwrap();
    assert_eq!((status, &by_http), (200, &by_udp));
    assert_eq!((by_udp["name"].as_str(), by_udp["players"].as_u64()), (Some("Deep end"), Some(1)));
    assert_eq!((get(&server.metrics, "/healthz").0, get(&server.metrics, "/metrics").0), (200, 200));
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    refused(&mut keel(&["status", &silent]), &format!("no Keel server answers at {silent}"));
}

#[test]
fn a_server_that_hangs_is_unwell_within_5_s_and_ends_within_15_with_what_it_was_at() {
    // One that was replaced since, as an upgrade in place does. A link and no copy: while a child of another test is being
    // made, it may hold what is being written, and such a file does not run.
    let place = tempfile::tempdir_in(Path::new(KEEL).parent().unwrap()).unwrap();
    let binary = place.path().join("a keel");
    std::fs::hard_link(KEEL, &binary).unwrap();
    let mut server = Server::start_of(&binary, &["--operator-ops"], |command| command.stderr(Stdio::piped()));
    std::fs::remove_file(&binary).unwrap();
    assert_eq!(get(&server.metrics, "/healthz").0, 200);
    said(&mut admin(&server, &["hang"]));
    let hung = Instant::now();
    while get(&server.metrics, "/healthz").0 == 200 {
        assert!(hung.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(hung.elapsed() > Duration::from_secs(3), "a busy machine is no hung server");
    let status = wait(&mut server.process, Duration::from_secs(15).saturating_sub(hung.elapsed()));
    assert_eq!(status.code(), Some(70));
    let mut errors = String::new();
    server.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains("no step for five seconds"), "{errors}");
    let stack = errors.split("the server hangs").nth(1).unwrap_or_else(|| panic!("{errors}"));
    let main = stack.split("thread ").nth(1).unwrap();
    let functions: Vec<&str> = main.lines().map(str::trim).collect();
    assert!(functions.iter().any(|line| line.contains("hang")), "{stack}");
    assert!(functions.iter().any(|line| line.contains("main")), "the whole stack: {stack}");
    assert!(stack.contains("`watchdog`") && stack.contains("`http`"), "{stack}");
}

#[test]
fn a_log_that_nobody_reads_stops_nothing_and_a_hang_ends_all_the_same() {
    // As much as a pipe holds: the first line waits already.
    let (_reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b'.'; 65_536]).unwrap();
    let mut server = Server::start_with(&["--operator-ops"], |command| command.stderr(writer));
    let mut ann = join(&server, "ann");
    said(&mut admin(&server, &["kick", "ann"]));
    assert_eq!(last_words(&mut ann), "An operator has put you out.");
    let mut bob = join(&server, "bob");
    let step = bob.replica().step();
    until(&mut bob, |bob, _| bob.replica().step() > step + 20);
    assert_eq!(get(&server.metrics, "/healthz").0, 200);
    said(&mut admin(&server, &["hang"]));
    assert_eq!(wait(&mut server.process, Duration::from_secs(15)).code(), Some(70));
}

#[test]
fn a_stop_that_is_passed_on_twice_is_one_stop() {
    let server = Server::start(&[]);
    send("-INT", server.process.id());
    let (said, content) = server.stop("-TERM");
    assert!(content && said.contains("The world is saved."), "{said}");
}

#[test]
fn a_server_that_was_stopped_for_longer_than_a_hang_takes_goes_on() {
    // As when the whole machine sleeps: no thread of the process runs, and then all do.
    let mut server = Server::start(&[]);
    send("-STOP", server.process.id());
    std::thread::sleep(Duration::from_secs(16));
    send("-CONT", server.process.id());
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(1) {
        assert_eq!(get(&server.metrics, "/healthz").0, 200);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(server.process.try_wait().unwrap().is_none());
    assert!(server.stop("-TERM").1);
}

/// A server that says nothing, started by `shell` in front of it.
fn spawn_by(front: &[&str]) -> (Child, tempfile::TempDir) {
    let data = tempfile::tempdir().unwrap();
    let serve =
        ["serve", "--unsecured", "--bind", "127.0.0.1:0", "--metrics", "off", "--data", data.path().to_str().unwrap()];
    let (program, rest) = front.split_first().map_or((KEEL, &[][..]), |(program, rest)| (*program, rest));
    let mut command = Command::new(program);
    command.args(rest).args(if front.is_empty() { &[][..] } else { &[KEEL][..] }).args(serve);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    (command.spawn().unwrap(), data)
}

fn send(signal: &str, process: u32) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

#[test]
fn a_stop_is_heard_at_any_time_after_the_start_even_where_the_signal_was_inherited_as_ignored() {
    let deaf = ["sh", "-c", "trap '' INT TERM HUP; exec \"$@\"", "sh"];
    let moments = [50, 100, 200, 400, 800, 1600, 3200, 5000];
    let started = Instant::now();
    let mut servers: Vec<_> = moments
        .iter()
        .enumerate()
        .map(|(index, &after_ms)| (after_ms, ["-TERM", "-INT"][index % 2], spawn_by(&deaf)))
        .collect();
    for (after_ms, signal, (server, _data)) in &mut servers {
        std::thread::sleep(Duration::from_millis(*after_ms).saturating_sub(started.elapsed()));
        send(signal, server.id());
        let status = wait(server, Duration::from_secs(10));
        assert!(status.success(), "{signal} after {after_ms} ms: {status}");
    }
}

#[test]
fn a_stop_is_heard_as_process_1() {
    let unshare = ["unshare", "--pid", "--fork", "--kill-child"];
    let can = Command::new("unshare").args(&unshare[1..]).arg("true").stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return keel::lacks("a right to process numbers of one's own");
    }
    for signal in ["-TERM", "-INT"] {
        let (mut process, _data) = spawn_by(&unshare);
        std::thread::sleep(Duration::from_millis(1000));
        let children = format!("/proc/{0}/task/{0}/children", process.id());
        let server = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
        send(signal, server);
        let status = wait(&mut process, Duration::from_secs(10));
        assert!(status.success(), "{signal}: {status}");
    }
}

#[test]
fn a_hangup_stops_nothing() {
    let mut server = Server::start(&[]);
    send("-HUP", server.process.id());
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.process.try_wait().unwrap().is_none());
    assert!(server.stop("-TERM").1);
}

#[test]
fn the_service_manager_is_told_when_a_server_is_ready_alive_and_stopping() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let told = || {
        let mut buffer = [0; 512];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let server = Server::start_with(&[], |command| command.stderr(Stdio::null()).env("NOTIFY_SOCKET", &path));
    let mut heard = Vec::new();
    while heard.iter().filter(|line: &&String| line.trim() == "WATCHDOG=1").count() < 2 {
        heard.push(told());
    }
    assert!(heard.iter().any(|line| line.trim() == "READY=1"), "{heard:?}");
    let process = server.process.id();
    let stopping = std::thread::spawn(move || server.stop("-TERM").1);
    // It stops within moments, and the watchdog looks four times a second: at the latest the end is told.
    assert!(stopping.join().unwrap(), "{process}");
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut buffer = [0; 512];
    let mut last = String::new();
    while let Ok(length) = socket.recv(&mut buffer) {
        last = String::from_utf8_lossy(&buffer[..length]).trim().to_owned();
    }
    assert_eq!(last, "STOPPING=1");
}

#[test]
fn a_log_in_json_is_an_object_a_line_whatever_clients_say() {
    let mut server = Server::start_with(&["--log-format", "json"], |command| command.stderr(Stdio::piped()));
    let _ann = join(&server, "ann");
    let mut bob = Client::connect(server.address.parse().unwrap(), Hello::new("b\u{1b}[31mob\n")).unwrap();
    last_words(&mut bob);
    let mut stderr = server.process.stderr.take().unwrap();
    assert!(server.stop("-TERM").1);
    let mut log = String::new();
    stderr.read_to_string(&mut log).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    assert!(lines.iter().any(|line| line["message"] == "joined" && line["name"] == "ann"), "{log}");
}

#[test]
fn manual_pages_and_completions_come_from_the_commands() {
    let out = tempfile::tempdir().unwrap();
    said(keel(&["man", "--out"]).arg(out.path()));
    for (page, has) in [("keel.1", "serve"), ("keel-serve.1", "max"), ("keel-admin-announce.1", "TEXT")] {
        let text = std::fs::read_to_string(out.path().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(has), "{page}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(said(&mut keel(&["completions", shell])).contains("max-clients"), "{shell}");
    }
}
