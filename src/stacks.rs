//! `keel stacks`: what every thread of a process is at.
//!
//! A server that hangs runs this on itself. It has to be another process: one can stop a thread and read its registers and its
//! stack from outside with nothing but system calls, whatever locks the thread holds, while a signal handler that walks its own
//! stack is allowed next to nothing. The stack is walked by the tables that every binary has for panics, so frame pointers are not
//! needed, and no debugger has to be installed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use addr2line::Loader;
use anyhow::Context;
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use object::{Object, ObjectSection};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64 as Registers, UnwinderAarch64 as Walker};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64 as Registers, UnwinderX86_64 as Walker};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: i32,
}

/// Frames of a thread that are shown at most.
const MOST_FRAMES: usize = 100;

/// A mapped file.
struct Image {
    /// The first address and the one after the last.
    range: (u64, u64),
    /// What is to be added to the file's own addresses.
    bias: u64,
    /// Its symbols.
    symbols: Option<Loader>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let pid = args.pid;
    let (images, walker) = map(pid)?;
    let memory = File::open(format!("/proc/{pid}/mem")).with_context(|| format!("cannot read process {pid}"))?;
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).with_context(|| format!("there is no process {pid}"))?;
    let mut threads: Vec<i32> =
        tasks.filter_map(|task| task.ok()?.file_name().into_string().ok()?.parse().ok()).collect();
    threads.sort_unstable();
    let mut cache = Cache::new();
    for thread in threads {
        let name = fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).unwrap_or_default();
        println!("thread {thread} `{}`", name.trim().escape_debug());
        // One that has gone in between, or may not be looked at, is no reason to leave out the others.
        match stack(Pid::from_raw(thread), &walker, &mut cache, &memory) {
            Ok(frames) => print!("{}", told(&frames, &images)),
            Err(error) => println!("    cannot be looked at: {error}"),
        }
    }
    Ok(())
}

/// The addresses that a thread is at, the innermost first. It stands still meanwhile.
fn stack(thread: Pid, walker: &Walker<Vec<u8>>, cache: &mut Cache, memory: &File) -> nix::Result<Vec<u64>> {
    ptrace::attach(thread)?;
    waitpid(thread, Some(WaitPidFlag::__WALL))?;
    let frames = ptrace::getregs(thread).map(|registers| {
        #[cfg(target_arch = "x86_64")]
        let (at, registers) = (registers.rip, Registers::new(registers.rip, registers.rsp, registers.rbp));
        #[cfg(target_arch = "aarch64")]
        let (at, registers) = (registers.pc, Registers::new(registers.regs[30], registers.sp, registers.regs[29]));
        let mut read = |address: u64| {
            let mut word = [0; 8];
            memory.read_exact_at(&mut word, address).map_err(|_| ())?;
            Ok(u64::from_le_bytes(word))
        };
        let mut frames = Vec::new();
        let mut walk = walker.iter_frames(at, registers, cache, &mut read);
        while let Ok(Some(frame)) = walk.next() {
            frames.push(frame.address_for_lookup());
            if frames.len() == MOST_FRAMES {
                break;
            }
        }
        frames
    });
    ptrace::detach(thread, None)?;
    frames
}

/// What is mapped into a process, and how to walk its stacks.
fn map(pid: i32) -> anyhow::Result<(Vec<Image>, Walker<Vec<u8>>)> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).with_context(|| format!("there is no process {pid}"))?;
    // START-END PERMISSIONS OFFSET DEVICE INODE PATH
    let mut files: BTreeMap<PathBuf, (u64, u64)> = BTreeMap::new();
    for line in maps.lines() {
        // A path may hold anything, also spaces.
        let (Some(range), Some(path)) = (line.split(' ').next(), line.find('/').map(|at| &line[at..])) else {
            continue;
        };
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let Some((start, end)) = range.split_once('-').and_then(|(start, end)| Some((number(start)?, number(end)?)))
        else {
            continue;
        };
        let whole = files.entry(path.into()).or_insert((start, end));
        whole.1 = whole.1.max(end);
    }
    // What runs may have been replaced since, which its path then says: this way leads to it all the same.
    let own = PathBuf::from(format!("/proc/{pid}/exe"));
    let runs = fs::read_link(&own).ok();
    let (mut images, mut walker) = (Vec::new(), Walker::new());
    for (path, range) in files {
        let path = if runs.as_ref() == Some(&path) { own.clone() } else { path };
        let Ok(bytes) = fs::read(&path) else { continue };
        let Ok(file) = object::File::parse(&*bytes) else { continue };
        // A shared object's own addresses begin at 0, a plain executable's where it is mapped.
        let bias = if file.kind() == object::ObjectKind::Executable { 0 } else { range.0 };
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            Some((
                section.address()..section.address() + section.size(),
                section.uncompressed_data().ok()?.into_owned(),
            ))
        };
        let (text, frames, header) = (section(".text"), section(".eh_frame"), section(".eh_frame_hdr"));
        let sections = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: text.as_ref().map(|(range, _)| range.clone()),
            text: text.map(|(_, bytes)| bytes),
            got_svma: section(".got").map(|(range, _)| range),
            eh_frame_svma: frames.as_ref().map(|(range, _)| range.clone()),
            eh_frame: frames.map(|(_, bytes)| bytes),
            eh_frame_hdr_svma: header.as_ref().map(|(range, _)| range.clone()),
            eh_frame_hdr: header.map(|(_, bytes)| bytes),
            ..ExplicitModuleSectionInfo::default()
        };
        walker.add_module(Module::new(path.display().to_string(), range.0..range.1, bias, sections));
        images.push(Image { range, bias, symbols: Loader::new(&path).ok() });
    }
    Ok((images, walker))
}

/// A line for each function that an address is in.
fn told(addresses: &[u64], images: &[Image]) -> String {
    let mut text = String::new();
    for &address in addresses {
        let image = images.iter().find(|image| (image.range.0..image.range.1).contains(&address));
        let symbols = image.and_then(|image| Some((image.symbols.as_ref()?, address - image.bias)));
        let frames = symbols.map(|(symbols, probe)| functions(symbols, probe)).unwrap_or_default();
        // Writing to a string does not fail.
        if frames.is_empty() {
            let _ = writeln!(text, "    {address:#x}");
        }
        for frame in frames {
            let _ = writeln!(text, "    {frame}");
        }
    }
    text
}

/// The functions that an address of a file is in, the innermost first: with debugging information those too that were inlined.
fn functions(symbols: &Loader, probe: u64) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(mut frames) = symbols.find_frames(probe) {
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let place = frame.location.as_ref().and_then(|place| Some(format!(" at {}:{}", place.file?, place.line?)));
            found.extend(name.map(|name| name + &place.unwrap_or_default()));
        }
    }
    if found.is_empty() {
        found.extend(symbols.find_symbol(probe).map(|name| addr2line::demangle_auto(name.into(), None).into_owned()));
    }
    found
}
