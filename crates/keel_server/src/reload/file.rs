//! The balance file of a running server, on a thread of its own.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bevy_log::{error, info, warn};
use keel_balance::{Balance, BalanceError};
use notify::event::EventKind;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::places::places;
use super::{ReloadError, Reloader};
use crate::causes::with_causes;

/// How often the thread looks whether it is asked for something by a signal.
const TURN: Duration = Duration::from_millis(100);

/// How long a file is left alone before it is read: an editor does several things to it for one save.
const QUIET: Duration = Duration::from_millis(200);

/// The longest that a file which never rests is left alone.
const MOST_QUIET: Duration = Duration::from_secs(1);

/// How often the file is looked at without being told that anything has happened: some file systems tell of nothing.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A larger file is no balance.
const MOST_BYTES: u64 = 4 << 20;

/// The balance file of a running server: read anew when it is asked to, and watched if that is wanted.
///
/// What cannot be used changes nothing and is reported in the log, with all that is wrong with it, once for each content.
pub struct BalanceFile {
    wake: Sender<Wake>,
}

enum Wake {
    /// Something has happened around the file.
    Touched,
    /// Someone wants it read, and to be told what became of it.
    Asked(SyncSender<Result<u64, ReloadError>>),
    Stop,
}

impl BalanceFile {
    /// Looks after the file at a path for a server that goes by the balance of hash `applied`.
    ///
    /// It is read anew each time that `asked` is set, which a signal may do, and if it `is_watched` whenever it changes.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        path: &Path,
        is_watched: bool,
        applied: u64,
        reloader: Reloader,
        asked: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let (wake, woken) = channel();
        let watch = is_watched.then(|| Watch::new(wake.clone()));
        let keeper = Keeper { path: path.to_owned(), reloader, applied, seen: None, is_troubled: false };
        let run = move || run(keeper, watch, &woken, &asked);
        std::thread::Builder::new().name("balance".to_owned()).spawn(run)?;
        Ok(Self { wake })
    }

    /// Reads the file now, changed or not, and has the server go by it: the hash of the balance that it then goes by.
    ///
    /// This waits for the server's next step, so it is not for the thread that runs the server.
    ///
    /// # Errors
    /// When the file cannot be used, with all that is wrong with it. Nothing has changed then.
    pub fn request_reload(&self) -> Result<u64, ReloadError> {
        let (answer, answered) = sync_channel(1);
        self.wake.send(Wake::Asked(answer)).map_err(|_| ReloadError::Stopped)?;
        answered.recv().map_err(|_| ReloadError::Stopped)?
    }
}

impl Drop for BalanceFile {
    fn drop(&mut self) {
        // It is not waited for: it may wait for the loop of a server that has not been dropped yet.
        let _ = self.wake.send(Wake::Stop);
    }
}

fn run(mut keeper: Keeper, mut watch: Option<Watch>, woken: &Receiver<Wake>, asked: &AtomicBool) {
    // It may have changed since the server read it.
    let mut look_at = Some(Instant::now());
    loop {
        match woken.recv_timeout(TURN) {
            Ok(Wake::Touched) => {
                if let Some(watch) = &watch {
                    watch.settle();
                }
                look_at = Some(Instant::now());
            }
            Ok(Wake::Asked(answer)) => drop(answer.try_send(keeper.reload())),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
        if asked.swap(false, Ordering::Relaxed) {
            info!("asked to reload the balance");
            let _ = keeper.reload();
        }
        if let Some(watch) = &mut watch
            && look_at.is_some_and(|at| at <= Instant::now())
        {
            look_at = Some(Instant::now() + LOOK_EVERY);
            // First, so that what happens while it is read is told of.
            watch.follow(&keeper.path);
            keeper.look();
        }
    }
}

/// What tells that something has happened to a file, or to what leads to it.
struct Watch {
    watcher: Option<RecommendedWatcher>,
    /// Directories that are watched.
    watched: BTreeSet<PathBuf>,
    told: Arc<Told>,
}

/// What the watcher's own thread goes by.
struct Told {
    places: Mutex<BTreeSet<PathBuf>>,
    is_touched: AtomicBool,
}

impl Watch {
    fn new(wake: Sender<Wake>) -> Self {
        let told = Arc::new(Told { places: Mutex::default(), is_touched: AtomicBool::new(false) });
        let tell = Arc::clone(&told);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let concerns = event.is_ok_and(|event| {
                let places = tell.places.lock().unwrap_or_else(PoisonError::into_inner);
                // That it is read is no news, least of all when the server reads it.
                !matches!(event.kind, EventKind::Access(_))
                    && (event.need_rescan() || event.paths.iter().any(|path| places.contains(path)))
            });
            if concerns && !tell.is_touched.swap(true, Ordering::SeqCst) {
                let _ = wake.send(Wake::Touched);
            }
        });
        let watcher = watcher.inspect_err(|error| warn!(%error, "the balance file is looked at every 2 s")).ok();
        Self { watcher, watched: BTreeSet::new(), told }
    }

    /// Waits until nothing has happened for a moment.
    fn settle(&self) {
        let start = Instant::now();
        while self.told.is_touched.swap(false, Ordering::SeqCst) && start.elapsed() < MOST_QUIET {
            std::thread::sleep(QUIET);
        }
    }

    /// Watches the directories by which the path leads to its file now.
    fn follow(&mut self, path: &Path) {
        let Some(watcher) = &mut self.watcher else { return };
        let places = places(path);
        let wanted: BTreeSet<PathBuf> = places.iter().filter_map(|place| place.parent()).map(Path::to_owned).collect();
        *self.told.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
        // Anew each time: a directory of the same name may be another one by now.
        for directory in std::mem::take(&mut self.watched) {
            let _ = watcher.unwatch(&directory);
        }
        for directory in wanted {
            // One that is not there is found by looking.
            if watcher.watch(&directory, RecursiveMode::NonRecursive).is_ok() {
                self.watched.insert(directory);
            }
        }
    }
}

/// What the server goes by, and what the file said last.
struct Keeper {
    path: PathBuf,
    reloader: Reloader,
    applied: u64,
    /// What was read last, or why nothing was.
    seen: Option<Result<Vec<u8>, String>>,
    /// Whether the last of it could not be used.
    is_troubled: bool,
}

impl Keeper {
    /// Takes the file if it is not what it was.
    fn look(&mut self) {
        let read = read(&self.path);
        let now = Some(read.as_ref().map(Vec::clone).map_err(ToString::to_string));
        if self.seen != now {
            self.seen = now;
            let _ = self.take(read);
        }
    }

    /// Takes the file whether or not it has changed.
    fn reload(&mut self) -> Result<u64, ReloadError> {
        let read = read(&self.path);
        self.seen = Some(read.as_ref().map(Vec::clone).map_err(ToString::to_string));
        self.take(read)
    }

    fn take(&mut self, read: std::io::Result<Vec<u8>>) -> Result<u64, ReloadError> {
        let result = self.apply(read);
        self.reloader.count(&result);
        match &result {
            Ok(hash) if *hash != self.applied => info!("the balance is reloaded: {hash:016x}"),
            Ok(hash) if self.is_troubled => info!("the balance file is sound again, and says what it did: {hash:016x}"),
            Ok(_) | Err(ReloadError::Stopped) => {}
            Err(error) => error!("the balance stays {:016x}: {}", self.applied, with_causes(error)),
        }
        self.is_troubled = result.is_err();
        self.applied = *result.as_ref().unwrap_or(&self.applied);
        result
    }

    fn apply(&self, read: std::io::Result<Vec<u8>>) -> Result<u64, ReloadError> {
        let name = self.path.display().to_string();
        let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
        let text = text.map_err(|source| BalanceError::Unreadable { name: name.clone(), source })?;
        let balance = Balance::parse(&name, &text)?;
        let hash = balance.hash();
        if hash != self.applied {
            keel_sim::check_fits(&balance)?;
            self.reloader.reload(Arc::new(balance))?;
        }
        Ok(hash)
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    // A pipe would be waited for, and a device may have no end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(std::io::Error::other("it is too large for a balance"));
    }
    Ok(bytes)
}
