//! `keel man` and `keel completions`: what a package ships beside the binary, from the one tree of commands.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap_complete::Shell;

#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// The directory to put the pages in; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Writes a manual page for each command.
pub(crate) fn man(args: &ManArgs, mut command: clap::Command) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    command.build();
    pages(&command, &args.out)
}

fn pages(command: &clap::Command, out: &Path) -> anyhow::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    let path = out.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    let shown = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(shown).try_for_each(|command| pages(command, out))
}

/// Prints a shell's completions.
pub(crate) fn completions(args: &CompletionsArgs, mut command: clap::Command) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "keel", &mut text);
    crate::serve::say(String::from_utf8(text)?.trim_end());
    Ok(())
}
