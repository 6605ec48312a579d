//! The one thread that writes. It takes commands in turn, so no two writes ever meet.

use crate::checkpoint::Checkpointer;
use crate::commit::commit;
use crate::error::store_error;
use crate::open::SqliteOptions;
use crate::segment::Segments;
use crate::{configuration, retention};
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;
use postrider_store::{Batch, Change, Receipt, StoreError};
use retention::Candidate;
use rusqlite::Connection;
use std::sync::Arc;
use std::thread;
use tokio::sync::{mpsc, oneshot};

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Something to write.
pub(crate) enum Command {
    Commit(Arc<Batch>, Reply<Receipt>),
    Configure(Vec<Change>, Reply<()>),
    Bury { destination: DestinationId, now: Timestamp, limit: usize, reply: Reply<usize> },
    Rotate(Timestamp, Reply<()>),
    DropSegments(Timestamp, Vec<Candidate>, Reply<()>),
    Close(Reply<()>),
}

/// Callers wait for their answer, so there are never more commands than callers.
const COMMANDS_MAX: usize = 64;

pub(crate) struct WriterHandle {
    commands: Option<mpsc::Sender<Command>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl WriterHandle {
    pub(crate) fn start(mut writer: Writer) -> Self {
        let (commands, mut inbox) = mpsc::channel(COMMANDS_MAX);
        let thread =
            thread::Builder::new().name("sqlite-writer".into()).spawn(move || writer.run(&mut inbox));
        WriterHandle {
            commands: Some(commands),
            thread: Some(thread.expect("a thread can be started at start-up")),
        }
    }

    pub(crate) async fn call<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, StoreError> {
        let stopped = || StoreError::Broken("the writer has stopped".into());
        let (reply, answer) = oneshot::channel();
        let commands = self.commands.as_ref().ok_or_else(stopped)?;
        commands.send(command(reply)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for WriterHandle {
    /// The directory's lock must not be released while the writer still writes.
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) struct Writer {
    live: Connection,
    segments: Segments,
    checkpointer: Checkpointer,
    options: SqliteOptions,
}

impl Writer {
    pub(crate) fn new(
        live: Connection,
        mut segments: Segments,
        mut checkpointer: Checkpointer,
        options: SqliteOptions,
    ) -> rusqlite::Result<Self> {
        let path = segments.open_path();
        checkpointer.watch(&mut segments.open, path)?;
        Ok(Writer { live, segments, checkpointer, options })
    }

    fn run(&mut self, inbox: &mut mpsc::Receiver<Command>) {
        while let Some(command) = inbox.blocking_recv() {
            self.perform(command);
            self.checkpointer.after_write(&self.segments.open);
        }
    }

    /// A caller that has gone away does not need its answer.
    fn perform(&mut self, command: Command) {
        match command {
            Command::Commit(batch, reply) => {
                drop(reply.send(commit(&mut self.segments, &batch).map_err(|e| store_error(&e))));
            }
            Command::Configure(changes, reply) => {
                let done = configuration::write(&mut self.live, &changes);
                drop(reply.send(done.map_err(|error| store_error(&error))));
            }
            Command::Bury { destination, now, limit, reply } => {
                let done = retention::bury(&mut self.segments, destination, now, limit);
                drop(reply.send(done.map_err(|error| store_error(&error))));
            }
            Command::Rotate(now, reply) => {
                drop(reply.send(self.rotate(now).map_err(|error| store_error(&error))));
            }
            Command::DropSegments(now, candidates, reply) => {
                let numbers = retention::choose(&candidates, now, &self.options);
                let done = self.segments.forget(&self.live, &numbers);
                drop(reply.send(done.map_err(|error| store_error(&error))));
            }
            Command::Close(reply) => {
                let done = self.live.execute("UPDATE meta SET running = 0", []);
                self.checkpointer.finish();
                drop(reply.send(done.map(drop).map_err(|error| store_error(&error))));
            }
        }
    }

    fn rotate(&mut self, now: Timestamp) -> rusqlite::Result<()> {
        self.segments.date(&self.live, now)?;
        if !self.segments.is_over(now, self.options.segment_span) {
            return Ok(());
        }
        let sealed = self.segments.rotate(&mut self.live, now)?;
        tracing::info!(segment = %sealed.display(), "sealed a segment");
        self.checkpointer.seal(sealed);
        let path = self.segments.open_path();
        self.checkpointer.watch(&mut self.segments.open, path)
    }
}
