//! Loss of power: of what the daemon wrote, only what was synced to the disk is there afterwards.
//!
//! The daemon writes to an ext4 file system whose image is on XFS. At a random moment the image is copied by
//! reflink: what the kernel still holds in memory is not in the copy, as after a loss of power.

use super::{Acknowledged, Process, WRITERS, client, folder, random, verify, write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// Cuts of a run.
const CUTS: usize = 50;
/// Cuts of one store. Each reads all that was acknowledged in it: one that grew on would only take ever longer.
const CUTS_OF_A_STORE: usize = 10;

/// File systems that are unmounted at the end, the last one first.
pub struct Mounted(pub Vec<PathBuf>);

impl Mounted {
    fn mount(&mut self, image: &Path, at: PathBuf) -> PathBuf {
        std::fs::create_dir_all(&at).unwrap();
        run("mount", &["-o", "loop", text(image), text(&at)]).unwrap();
        self.0.push(at.clone());
        at
    }

    fn unmount_last(&mut self) {
        if let Some(at) = self.0.pop() {
            let _ = run("umount", &[text(&at)]).or_else(|_| run("umount", &["-l", text(&at)]));
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        while !self.0.is_empty() {
            self.unmount_last();
        }
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// Makes an image of `mib` with a file system in it.
pub fn image(at: &Path, mib: u64, make: &str, options: &[&str]) -> Result<(), String> {
    std::fs::File::create(at).and_then(|file| file.set_len(mib << 20)).map_err(|e| e.to_string())?;
    run(make, &[options, &[text(at)]].concat())
}

/// A disk whose power can be cut: an image of ext4 on XFS, mounted, and a place for copies of it.
pub struct Rig {
    mounted: Mounted,
    /// Where the file system of the daemon is mounted.
    pub data: PathBuf,
    disk: PathBuf,
    copy: PathBuf,
    after: PathBuf,
}

impl Rig {
    pub fn new(home: &Path) -> Result<Self, String> {
        let mut mounted = Mounted(Vec::new());
        image(&home.join("xfs.img"), 4096, "mkfs.xfs", &["-q", "-m", "reflink=1"])?;
        let at = home.join("xfs");
        std::fs::create_dir_all(&at).map_err(|e| e.to_string())?;
        run("mount", &["-o", "loop", text(&home.join("xfs.img")), text(&at)])?;
        mounted.0.push(at.clone());
        let disk = at.join("disk.img");
        image(&disk, 512, "mkfs.ext4", &["-q"])?;
        let data = mounted.mount(&disk, home.join("disk"));
        Ok(Self { mounted, data, disk, copy: at.join("cut.img"), after: home.join("cut") })
    }

    /// Copies the disk as it would be after a loss of power at this moment.
    pub async fn cut(&self) {
        let (from, to) = (text(&self.disk).to_owned(), text(&self.copy).to_owned());
        let copied = tokio::task::spawn_blocking(move || run("cp", &["--reflink=always", &from, &to]));
        copied.await.unwrap().unwrap();
    }

    pub fn mount_copy(&mut self) -> PathBuf {
        self.mounted.mount(&self.copy, self.after.clone())
    }

    /// Forgets the copy.
    pub fn drop_copy(&mut self) {
        self.mounted.unmount_last();
        std::fs::remove_file(&self.copy).unwrap();
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_power_is_cut() {
    let (_kept, home) = folder();
    let mut rig = match Rig::new(&home) {
        Ok(rig) => rig,
        Err(why) => {
            println!("SKIPPED: power cuts need root, loop devices and xfsprogs: {why}");
            return;
        }
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let http = client();
        let mut known = Acknowledged::default();
        let mut process = Process::start(&home, &rig.data.join("0"), &http).await;
        let mut customers = 0;
        for cut in 0..CUTS {
            let store = (cut / CUTS_OF_A_STORE).to_string();
            if cut > 0 && cut % CUTS_OF_A_STORE == 0 {
                known = Acknowledged::default();
                process = Process::start(&home, &rig.data.join(&store), &http).await;
            }
            // Nothing writes while a cut is checked: each next cut would have ever more to read.
            let stop = Arc::new(AtomicBool::new(false));
            let writers: Vec<_> = (0..WRITERS)
                .map(|w| {
                    let (http, url) = (http.clone(), process.url.clone());
                    tokio::spawn(write(http, url, format!("p-{cut}-{w}"), known.clone(), stop.clone()))
                })
                .collect();
            tokio::time::sleep(Duration::from_millis(20 + random(200))).await;
            let acknowledged = known.lock().unwrap().clone();
            rig.cut().await;
            // What was asked for while the copy was made may be in it or not.
            let mut expected = known.lock().unwrap().clone();
            for (id, now) in &mut expected {
                let before = acknowledged.get(id).cloned().unwrap_or_default();
                let same = before == *now && !now.unsure;
                *now = before;
                now.unsure = !same;
            }
            stop.store(true, SeqCst);
            for writer in writers {
                writer.await.unwrap();
            }
            let after = rig.mount_copy();
            let restarted = Process::start(&home, &after.join(&store), &http).await;
            let wrong = verify(&http, &restarted.url, &expected).await;
            drop(restarted);
            rig.drop_copy();
            assert_eq!(wrong, Vec::<String>::new(), "after cut {cut}, {} acknowledged", acknowledged.len());
            customers +=
                known.lock().unwrap().keys().filter(|id| id.starts_with(&format!("p-{cut}-"))).count();
        }
        println!("{CUTS} cuts, {customers} customers, 0 lost");
    });
}
