//! A disk in memory that forgets what was not synced.

use super::super::disk::{Disk, DiskFile, Flaws};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

const PAGE_BYTES: usize = 512;

/// What a crash leaves of the unsynced writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Loss {
    /// All of them are lost.
    All,
    /// None is lost, as when only the process was killed.
    Nothing,
    /// Each page and each name is kept or lost by chance.
    Some(u64),
}

/// When the disk refuses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Failing {
    Never,
    /// At the n-th operation only.
    Once(u64),
    /// From the n-th operation on.
    From(u64),
    /// There is no space from the first operation up to before the second.
    Full(u64, u64),
    /// There is no space but for the journal.
    Reserve,
    /// No file can be opened or made from the first operation up to before the second.
    NoFiles(u64, u64),
    /// The power goes during the n-th operation: what it does may come through, or parts of it.
    Off(u64),
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<u8>),
    Length(usize),
}

#[derive(Debug, Clone, Default)]
struct Inode {
    current: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Naming {
    Link(String, usize),
    Unlink(String),
    Rename(String, String),
}

#[derive(Debug, Clone, Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    unsynced_names: Vec<(String, Naming)>,
    operations: u64,
}

#[derive(Debug, Clone)]
pub(super) struct SimDisk {
    state: Arc<Mutex<State>>,
    failing: Arc<Mutex<Failing>>,
    pub(super) reads_count: bool,
    pub(super) syncs_lie: bool,
    pub(super) flaws: Flaws,
}

/// Plain numbers by chance, the same in every run.
#[derive(Debug, Clone)]
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

fn parent(name: &str) -> String {
    name.rsplit_once('/').map_or(String::new(), |(dir, _)| dir.to_owned())
}

fn rename(names: &mut BTreeMap<String, usize>, naming: &Naming) {
    match naming {
        Naming::Link(name, inode) => drop(names.insert(name.clone(), *inode)),
        Naming::Unlink(name) => drop(names.remove(name)),
        Naming::Rename(from, to) => {
            if let Some(inode) = names.remove(from) {
                names.insert(to.clone(), inode);
            }
        }
    }
}

fn apply(content: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Length(bytes) => content.resize(*bytes, 0),
        Step::Write(at, bytes) => {
            content.resize(content.len().max(at + bytes.len()), 0);
            content[*at..at + bytes.len()].copy_from_slice(bytes);
        }
    }
}

/// The pages of a step, each of which may reach the disk without the others.
fn pages(step: &Step) -> Vec<Step> {
    let Step::Write(at, bytes) = step else { return vec![step.clone()] };
    let mut from = 0;
    let mut pages = Vec::new();
    while from < bytes.len() {
        let to = bytes.len().min((at + from) / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES - at);
        pages.push(Step::Write(at + from, bytes[from..to].to_vec()));
        from = to;
    }
    pages
}

impl SimDisk {
    pub(super) fn new(reads_count: bool) -> Self {
        let failing = Arc::new(Mutex::new(Failing::Never));
        Self { state: Arc::default(), failing, reads_count, syncs_lie: false, flaws: Flaws::default() }
    }

    pub(super) fn fail(&self, failing: Failing) {
        *self.failing.lock().unwrap() = failing;
    }

    /// Everything that is asked of it from now on is a panic.
    pub(super) fn break_down(&self) {
        let state = self.state.clone();
        let broken = std::thread::spawn(move || {
            let _held = state.lock().unwrap();
            panic!("the disk breaks down");
        });
        broken.join().unwrap_err();
    }

    pub(super) fn operations(&self) -> u64 {
        self.state.lock().unwrap().operations
    }

    /// The disk as it is found after a crash.
    pub(super) fn crash(&self, loss: Loss) -> Self {
        let mut chance = Chance(match loss {
            Loss::Some(seed) => seed,
            _ => 0,
        });
        let mut kept = move || match loss {
            Loss::All => false,
            Loss::Nothing => true,
            Loss::Some(_) => chance.below(2) == 0,
        };
        let mut state = self.state.lock().unwrap().clone();
        let mut names = state.durable_names.clone();
        state.unsynced_names.iter().filter(|_| kept()).for_each(|(_, naming)| rename(&mut names, naming));
        let dirs = names.clone();
        names.retain(|name, _| parent(name).is_empty() || dirs.contains_key(&parent(name)));
        for inode in &mut state.inodes {
            for page in inode.unsynced.iter().flat_map(pages).filter(|_| kept()) {
                apply(&mut inode.durable, &page);
            }
            (inode.current, inode.unsynced) = (inode.durable.clone(), Vec::new());
        }
        let fresh = Self::new(self.reads_count);
        let state =
            State { durable_names: names.clone(), names, unsynced_names: Vec::new(), operations: 0, ..state };
        *fresh.state.lock().unwrap() = state;
        Self { syncs_lie: self.syncs_lie, flaws: self.flaws, ..fresh }
    }

    /// The same disk for the next process.
    pub(super) fn restart(&self) -> Self {
        self.fail(Failing::Never);
        self.state.lock().unwrap().operations = 0;
        self.clone()
    }

    pub(super) fn content(&self, name: &str) -> Vec<u8> {
        let state = self.state.lock().unwrap();
        state.inodes[state.names[name]].current.clone()
    }

    pub(super) fn put(&self, name: &str, content: &[u8]) {
        let mut state = self.state.lock().unwrap();
        let inode = state.names[name];
        let content = content.to_vec();
        state.inodes[inode] = Inode { current: content.clone(), durable: content, unsynced: Vec::new() };
    }

    /// Counts an operation; says whether it fails.
    fn begin(&self, reads: bool) -> (MutexGuard<'_, State>, io::Result<()>) {
        let mut state = self.state.lock().unwrap();
        if reads && !self.reads_count {
            let off = matches!(*self.failing.lock().unwrap(), Failing::Off(n) if state.operations >= n);
            let result = if off { Err(io::Error::other("the disk is off")) } else { Ok(()) };
            return (state, result);
        }
        state.operations += 1;
        let fails = match *self.failing.lock().unwrap() {
            Failing::Never => false,
            Failing::Once(n) => state.operations == n,
            Failing::Full(..) | Failing::Reserve | Failing::NoFiles(..) => false,
            Failing::From(n) | Failing::Off(n) => state.operations >= n,
        };
        (state, if fails { Err(io::Error::other("the disk fails")) } else { Ok(()) })
    }

    /// What a disk without space says to something that takes space.
    fn no_space(&self, operation: u64) -> io::Result<()> {
        match *self.failing.lock().unwrap() {
            Failing::Full(from, to) if (from..to).contains(&operation) => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    /// What is said where no file can be opened.
    fn no_files(&self, operation: u64) -> io::Result<()> {
        match *self.failing.lock().unwrap() {
            Failing::NoFiles(from, to) if (from..to).contains(&operation) => {
                Err(rustix::io::Errno::MFILE.into())
            }
            _ => Ok(()),
        }
    }

    /// The operation during which the power goes.
    fn off_at(&self) -> u64 {
        match *self.failing.lock().unwrap() {
            Failing::Off(n) => n,
            _ => u64::MAX,
        }
    }

    fn name(&self, naming: Naming, name: &str) -> io::Result<()> {
        let (mut state, mut result) = self.begin(false);
        if matches!(naming, Naming::Link(..)) {
            result = result.and_then(|()| self.no_space(state.operations));
            result = result.and_then(|()| self.no_files(state.operations));
        }
        if result.is_ok() || state.operations == self.off_at() {
            rename(&mut state.names, &naming);
            state.unsynced_names.push((parent(name), naming));
        }
        result
    }

    fn file(&self, inode: usize) -> Box<dyn DiskFile> {
        Box::new(SimFile { disk: self.clone(), inode })
    }
}

impl Disk for SimDisk {
    fn make_dir(&self, dir: &str) -> io::Result<()> {
        if self.state.lock().unwrap().names.contains_key(dir) {
            return Ok(());
        }
        self.name(Naming::Link(dir.to_owned(), usize::MAX), dir)
    }
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn DiskFile>>> {
        let (state, result) = self.begin(true);
        result.and_then(|()| self.no_files(state.operations))?;
        Ok(state.names.get(name).map(|inode| self.file(*inode)))
    }
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let found = self.state.lock().unwrap().names.get(name).copied();
        if let Some(inode) = found {
            self.file(inode).set_len(0)?;
            return Ok(self.file(inode));
        }
        let mut state = self.state.lock().unwrap();
        state.inodes.push(Inode::default());
        let inode = state.inodes.len() - 1;
        drop(state);
        self.name(Naming::Link(name.to_owned(), inode), name)?;
        Ok(self.file(inode))
    }
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let (state, result) = self.begin(true);
        result?;
        let names = state.names.keys().filter(|name| !name.is_empty() && parent(name) == dir);
        Ok(names.map(|name| name.rsplit('/').next().unwrap_or(name).to_owned()).collect())
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.name(Naming::Rename(from.to_owned(), to.to_owned()), to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.name(Naming::Unlink(name.to_owned()), name)
    }
    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        let (mut state, result) = self.begin(false);
        result?;
        if !self.syncs_lie {
            let (synced, rest) =
                std::mem::take(&mut state.unsynced_names).into_iter().partition(|(d, _)| d == dir);
            let synced: Vec<(String, Naming)> = synced;
            state.unsynced_names = rest;
            synced.iter().for_each(|(_, naming)| rename(&mut state.durable_names, naming));
        }
        Ok(())
    }
    fn above_reserve(&self) -> u64 {
        if matches!(*self.failing.lock().unwrap(), Failing::Reserve) {
            return 0;
        }
        let operations = self.operations();
        self.no_space(operations).map_or(0, |()| u64::MAX)
    }
    fn flaws(&self) -> Flaws {
        self.flaws
    }
}

struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl SimFile {
    fn change(&self, step: &Step) -> io::Result<()> {
        let (mut state, mut result) = self.disk.begin(false);
        let operation = state.operations;
        let length = state.inodes[self.inode].current.len();
        if matches!(step, Step::Write(at, bytes) if at + bytes.len() > length) {
            result = result.and_then(|()| self.disk.no_space(operation));
        }
        let inode = &mut state.inodes[self.inode];
        let mut done = vec![step.clone()];
        if operation > self.disk.off_at() {
            done.clear();
        } else if result.is_err() && operation != self.disk.off_at() {
            // A failing disk may have taken a part.
            done = pages(step);
            done.truncate(done.len() / 2);
        }
        for step in done {
            apply(&mut inode.current, &step);
            inode.unsynced.push(step);
        }
        result
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let (state, result) = self.disk.begin(true);
        result?;
        let rest = state.inodes[self.inode].current.get(offset as usize..).unwrap_or_default();
        let bytes = rest.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        Ok(bytes)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(&Step::Write(offset as usize, bytes.to_vec()))
    }
    fn sync_data(&self) -> io::Result<()> {
        let (mut state, result) = self.disk.begin(false);
        let inode = &mut state.inodes[self.inode];
        if result.is_err() && self.disk.off_at() < u64::MAX {
            return result;
        }
        if result.is_err() {
            // The system forgets which pages were not written, so that no later sync brings them back.
            inode.unsynced.clear();
        } else if !self.disk.syncs_lie {
            let synced = std::mem::take(&mut inode.unsynced);
            synced.iter().for_each(|step| apply(&mut inode.durable, step));
        }
        result
    }
    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.change(&Step::Length(bytes as usize))
    }
    fn reserve(&self, _: u64, _: u64) -> io::Result<()> {
        self.disk.no_space(self.disk.operations())
    }
    fn bytes(&self) -> io::Result<u64> {
        let (state, result) = self.disk.begin(true);
        result?;
        Ok(state.inodes[self.inode].current.len() as u64)
    }
}
