//! Dead letters appended to a file as they happen, in waford's form, for whoever follows a file rather than an API.
//!
//! A line is written after the commit that made the dead letter. The durable record is the store: a crash, a full
//! disk or a reader that is behind may lose lines of the file, never the dead letter. One thread writes, so that a
//! slow disk delays no delivery.

use crate::dead_letter_line::DeadLetterLine;
use postrider_core::id::{AccountId, EventId};
use postrider_store::containment::contain;
use postrider_store::{EventContent, Store, StoreError};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use tokio::sync::mpsc;

/// Lines that wait for the disk; past it they are left out. Without their bodies, which are read one by one.
const NOTES_MAX: usize = 10_000;
/// Full files kept beside the one that is written.
const OLD_FILES: u32 = 5;

/// Where dead letters are noted.
#[derive(Clone, Debug)]
pub struct DeadLetterFile {
    notes: mpsc::Sender<Note>,
    /// Lines are being left out, and the log says so already.
    behind: Arc<AtomicBool>,
}

/// A line without its payload.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) event: EventId,
    pub(crate) account: AccountId,
    /// The URL it was owed to.
    pub(crate) destination: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) last_error: Option<String>,
}

impl DeadLetterFile {
    /// Opens the file and starts its thread, which ends once all handles are gone and all is written.
    pub fn start(
        path: &Path,
        bytes_max: u64,
        store: Arc<dyn Store>,
    ) -> io::Result<(DeadLetterFile, JoinHandle<()>)> {
        let (notes, mut inbox) = mpsc::channel::<Note>(NOTES_MAX);
        let behind = Arc::new(AtomicBool::new(false));
        let (mut log, caught_up) = (RotatedLog::open(path, bytes_max)?, Arc::clone(&behind));
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let thread = thread::Builder::new().name("dead-letter-file".into()).spawn(move || {
            while let Some(note) = inbox.blocking_recv() {
                let content = runtime.block_on(store.content(note.event));
                let written = contain(|| note.write(content, &mut log));
                if let Ok(Err(error)) = written {
                    let Note { event, account, .. } = note;
                    tracing::warn!(%error, %event, %account, "failed to write a line of the dead-letter file; the line is lost");
                }
                if inbox.is_empty() {
                    caught_up.store(false, Ordering::Relaxed);
                }
            }
        })?;
        Ok((DeadLetterFile { notes, behind }, thread))
    }

    /// Notes a delivery that was given up on. Never waits.
    pub(crate) fn note(&self, note: Note) {
        if self.notes.try_send(note).is_err() && !self.behind.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "dropped lines of the dead-letter file: it cannot keep up; the store has every dead letter"
            );
        }
    }
}

impl Note {
    /// An event that retention has taken meanwhile has no line, as its dead letter is gone too.
    fn write(
        &self,
        content: Result<Option<EventContent>, StoreError>,
        log: &mut RotatedLog,
    ) -> io::Result<()> {
        let Some(content) = content.map_err(io::Error::other)? else { return Ok(()) };
        log.append(&self.line(&content.body))
    }

    fn line(&self, body: &[u8]) -> String {
        let (mut text, _) = DeadLetterLine {
            event: self.event,
            body,
            destination: self.destination.as_deref(),
            attempts: self.attempts,
            last_error: self.last_error.as_deref(),
        }
        .text();
        text.push('\n');
        text
    }
}

/// A file that is appended to and put aside when it is full: `.1` is the newest of the old ones.
struct RotatedLog {
    path: PathBuf,
    bytes_max: u64,
    file: File,
    bytes: u64,
}

impl RotatedLog {
    fn open(path: &Path, bytes_max: u64) -> io::Result<Self> {
        // It holds the payloads of tenants: for nobody else's eyes.
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(RotatedLog { path: path.to_owned(), bytes_max, file, bytes })
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        if self.bytes > 0 && self.bytes + line.len() as u64 > self.bytes_max {
            self.rotate()?;
        }
        let written = self.file.write_all(line.as_bytes());
        self.bytes = self.file.metadata()?.len();
        if written.is_err() {
            // Half a line would spoil the next one too.
            let _ = self.file.write_all(b"\n");
        }
        written
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..OLD_FILES).rev() {
            move_if_there(&self.old(number), &self.old(number + 1))?;
        }
        move_if_there(&self.path, &self.old(1))?;
        *self = RotatedLog::open(&self.path, self.bytes_max)?;
        Ok(())
    }

    fn old(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_whose_event_cannot_be_read_is_lost_and_not_in_silence() {
        let note = Note {
            event: EventId::from_u64(1),
            account: AccountId::from_u64(2),
            destination: None,
            attempts: 1,
            last_error: None,
        };
        let mut log = RotatedLog::open(Path::new("/dev/null"), 20).unwrap();
        let lost = note.write(Err(StoreError::Unavailable("away".into())), &mut log).unwrap_err();
        assert!(lost.to_string().contains("away"), "{lost}");
        assert!(note.write(Ok(None), &mut log).is_ok(), "retention has taken it");
    }

    #[test]
    fn a_full_file_is_put_aside_and_five_old_ones_are_kept() {
        let directory = std::env::temp_dir().join(format!("postrider-dead-letters-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("dlq.jsonl");
        let mut log = RotatedLog::open(&path, 20).unwrap();
        for number in 10..30 {
            log.append(&format!("line {number}\n")).unwrap();
        }
        log.append(&"x".repeat(50)).unwrap();
        drop(log);
        let mut log = RotatedLog::open(&path, 20).unwrap();
        log.append("after a restart\n").unwrap();
        let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
        let files = ["dlq.jsonl", "dlq.jsonl.1", "dlq.jsonl.2", "dlq.jsonl.3", "dlq.jsonl.4", "dlq.jsonl.5"];
        let texts = files.map(read);
        assert_eq!(texts[0], "after a restart\n");
        assert_eq!(texts[1].len(), 50, "a line that fits nowhere has a file of its own");
        assert_eq!(
            texts[2..],
            ["line 28\nline 29\n", "line 26\nline 27\n", "line 24\nline 25\n", "line 22\nline 23\n"]
        );
        assert!(!directory.join("dlq.jsonl.6").exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}
