//! Making of a backup.

use super::keys::SealFlags;
use super::{shown, unless_interrupted, unusable};
use crate::client::Download;
use crate::command::cx::Cx;
use crate::command::images::check_place;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::machine::daemon::admin::StoreFlags;
use crate::machine::daemon::not_started;
use crate::output::views;
use crate::settings::files::folder_of;
use crate::words::quoted_path;
use bytes::Bytes;
use clap::Args;
use mfa_daemon::{
    BackupError, BackupFacts, BackupSchedule, Draft, EncryptTo, LocalBackup, Seal, SealWriter, back_up,
    check_key_file, whole_backup,
};
use mfa_shared::api::backup::GetBackup;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use std::io::{self, Read, stdout};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Pieces that wait to be verified on their way to standard output.
const PIECES_WAITING: usize = 4;

#[derive(Args)]
pub struct Create {
    /// File, or folder for a file named by its moment; - for standard output [default: this folder]
    #[arg(long, value_name = "FILE|DIR|-")]
    out: Option<String>,
    #[command(flatten)]
    seal: SealFlags,
    #[command(flatten)]
    store: StoreFlags,
}

/// Where the bytes of a backup come from.
enum Source {
    Daemon(Box<Download>),
    Store(LocalBackup),
}

impl Source {
    async fn next(&mut self) -> Outcome<Option<Bytes>> {
        match self {
            Self::Daemon(download) => download.next().await,
            Self::Store(backup) => backup.next().await.map_err(not_started),
        }
    }
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&GetBackup::META);
    const ABOUT: &'static str =
        "Back up the whole store: from the running daemon, or without one by --data-dir or --store";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa backup create --out nightly.mfab",
        "mfa backup create --out . -o json",
        "mfa backup create --out - | sha256sum",
        "mfa backup create --encrypt-to age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa",
    ];
    const SERVES: bool = true;
    const EXITS: &'static [i32] = &[exit::CONFLICT];
    async fn run(self, cx: &Cx) -> Outcome {
        let Self { out, seal, store } = self;
        let out = out.unwrap_or_else(|| ".".to_owned());
        check_place(&out, "mfa backup show FILE")?;
        let place = PathBuf::from(&out);
        if out != "-" && place.is_file() {
            return Err(taken(&place));
        }
        check_folder(&out, &place)?;
        cx.out.check_columns(&views::BACKUP)?;
        let config = if seal.with_key { Some(store.clone().config(cx)?) } else { None };
        let seal = seal.seal(config.as_ref())?;
        let source = if store.are_given() {
            Source::Store(back_up(&store.config(cx)?).await.map_err(not_started)?)
        } else {
            Source::Daemon(Box::new(cx.client.download(&GetBackup {}).await?))
        };
        if out == "-" {
            return unless_interrupted(pass_on(source, seal)).await;
        }
        let (file, facts) = unless_interrupted(keep(source, &place, seal)).await?;
        cx.out.tip(&format!("{} was read back and verified", file.display()));
        cx.out.show(&views::BACKUP, &shown(&file.display().to_string(), "verified", &facts))
    }
}

/// Makes a backup from the running daemon as the schedule of this machine says. Dropped early, it leaves
/// nothing.
pub async fn scheduled(cx: &Cx, schedule: &BackupSchedule) -> Outcome<PathBuf> {
    let source = Source::Daemon(Box::new(cx.client.download(&GetBackup {}).await?));
    let to = EncryptTo::Keys(schedule.encrypt_to.clone());
    let seal = Some(Seal { to, key_file: None }).filter(|_| !schedule.encrypt_to.is_empty());
    keep(source, &schedule.dir, seal).await.map(|(file, _)| file)
}

/// Refuses a name that says a folder, where there is none: it may be a disk that is not mounted.
fn check_folder(out: &str, place: &Path) -> Outcome {
    let folder = match place.parent() {
        _ if out.ends_with('/') => place,
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => return Ok(()),
    };
    if folder.is_dir() {
        return Ok(());
    }
    let folder = folder.components().as_path();
    let hint = format!("make it, or mount its disk: mkdir -p {}", quoted_path(folder));
    Err(Failure::local(format!("there is no folder {}", folder.display())).hint(hint))
}

fn taken(place: &Path) -> Failure {
    let message = format!("{} is there already", place.display());
    Failure::new(codes::FILE_EXISTS, message).hint("name another file: --out FILE")
}

/// Writes a backup to a file, which gets its name only after it was read back.
async fn keep(mut source: Source, place: &Path, seal: Option<Seal>) -> Outcome<(PathBuf, BackupFacts)> {
    let is_folder = place.is_dir();
    let (folder, name) = if is_folder { (place, None) } else { (folder_of(place), place.file_name()) };
    let failed = |error: io::Error| {
        let message = format!("cannot write a backup to {}: {error}", folder.display());
        Failure::local(message).hint("nothing was left there; fix it, then repeat the command")
    };
    let mut draft = Draft::begin(folder, seal.as_ref()).map_err(failed)?;
    while let Some(bytes) = source.next().await? {
        draft.write(&bytes).map_err(failed)?;
    }
    draft.finish(name).await.map_err(|error| match error {
        BackupError::Io(io) if io.kind() == io::ErrorKind::AlreadyExists => taken(place),
        BackupError::Io(io) => failed(io),
        error => unusable("what was written", &error),
    })
}

/// A reader over the bytes on their way.
struct Passing {
    pieces: Receiver<Bytes>,
    piece: Bytes,
}

impl Read for Passing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.pieces.recv() {
                Ok(piece) => self.piece = piece,
                Err(_) => return Ok(0),
            }
        }
        let count = buffer.len().min(self.piece.len());
        buffer[..count].copy_from_slice(&self.piece.split_to(count));
        Ok(count)
    }
}

/// Writes a backup to standard output and verifies it on the way.
async fn pass_on(mut source: Source, seal: Option<Seal>) -> Outcome {
    let (sender, pieces): (SyncSender<Bytes>, _) = sync_channel(PIECES_WAITING);
    let passing = Passing { pieces, piece: Bytes::new() };
    let verifying = std::thread::spawn(move || whole_backup(passing));
    let written = write_out(&mut source, &sender, seal.as_ref()).await;
    drop(sender);
    let verified = verifying.join();
    written?;
    let defect = |_| Failure::local("the backup could not be verified because of a defect");
    let whole = verified.map_err(defect)?;
    let key_file = seal.as_ref().and_then(|seal| seal.key_file.as_ref()).map(|bytes| bytes.as_slice());
    let checked = whole.and_then(|whole| check_key_file(key_file, &whole));
    checked.map_err(|error: BackupError| unusable("what was written", &error))
}

async fn write_out(source: &mut Source, verify: &SyncSender<Bytes>, seal: Option<&Seal>) -> Outcome {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::broken_pipe(),
        _ => Failure::local(format!("cannot write to standard output: {error}")),
    };
    let mut writer = SealWriter::begin(stdout(), seal).map_err(failed)?;
    while let Some(bytes) = source.next().await? {
        writer.write(&bytes).map_err(failed)?;
        // Damage is reported at the end.
        let _ = verify.send(bytes);
    }
    writer.finish().map(drop).map_err(failed)
}
