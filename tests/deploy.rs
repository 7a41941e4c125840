//! What ships beside the binary for those who run it.

mod keel;

use std::path::Path;
use std::process::{Command, Stdio};

fn shipped(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/deploy").join(name)).unwrap()
}

#[test]
fn systemd_takes_the_unit() {
    if !Command::new("systemd-analyze").arg("--version").stdout(Stdio::null()).status().is_ok_and(|done| done.success())
    {
        return keel::lacks("systemd-analyze");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keel.service");
    // It is installed elsewhere, and that has to be there.
    std::fs::write(&path, shipped("keel.service").replace("/usr/bin/keel", env!("CARGO_BIN_EXE_keel"))).unwrap();
    let output = Command::new("systemd-analyze").arg("verify").arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let about_ours: Vec<&str> = said.lines().filter(|line| line.contains("keel")).collect();
    assert!(output.status.success() && about_ours.is_empty(), "{said}");
}

/// The settings that a unit or a container gives the server, as arguments and variables.
fn settings(line: &str, variables: &[(&str, &str)]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_keel"));
    command.args(line.split_whitespace()).arg("--print-config").envs(variables.iter().copied());
    let output = command.current_dir(directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_unit_and_the_container_set_what_there_is_to_set() {
    let unit = shipped("keel.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/keel ")).unwrap();
    let settings_of_unit = settings(start, &[]);
    assert!(settings_of_unit.lines().any(|line| line.starts_with("data ") && line.ends_with(" --data")));

    let container = shipped("Containerfile");
    let words = container.split_whitespace().filter(|word| word.starts_with("KEEL_"));
    let variables: Vec<(&str, &str)> = words.map(|word| word.split_once('=').unwrap()).collect();
    assert!(variables.len() > 3);
    let printed = settings("serve", &variables);
    for (name, _) in variables {
        assert!(printed.lines().any(|line| line.ends_with(&format!(" {name}"))), "{name} sets nothing:\n{printed}");
    }
}
