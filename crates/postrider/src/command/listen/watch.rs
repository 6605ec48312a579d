//! The gateway's stream, read on a thread of its own and begun again whenever it ends.

use crate::client::{Client, Frames, is_passing};
use crate::command::text;
use serde_json::Value;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// What waits for a program that is slow. Beyond it the stream waits, and the gateway counts what it cannot tell.
const WAITING_MAX: usize = 256;
/// Before a stream that ended is begun again; what the gateway itself asks for.
const RECONNECT: Duration = Duration::from_secs(1);

/// What the stream says.
pub(super) enum Told {
    /// It has begun: whatever is not told from here on can be found in the list of events.
    Open,
    /// An event of this id is on disk.
    Accepted(String),
    /// Some were not told.
    Lagged,
    /// The gateway went away, for this reason; it is looked for.
    Away(anyhow::Error),
    /// There is no use in going on.
    Refused(anyhow::Error),
}

/// Begins to watch. The thread ends with the process, or when nobody listens to it any more.
pub(super) fn watch(
    client: Client,
    parameters: Vec<(&'static str, String)>,
) -> anyhow::Result<Receiver<Told>> {
    let (teller, told) = sync_channel(WAITING_MAX);
    let watch = move || {
        while let Some(last) = stream(&client, &parameters, &teller) {
            if teller.send(last).is_err() {
                return;
            }
            std::thread::sleep(RECONNECT);
        }
    };
    std::thread::Builder::new().name("watch".to_owned()).spawn(watch)?;
    Ok(told)
}

/// One stream to its end, and how it ended; `None` when it was the last.
fn stream(client: &Client, parameters: &[(&'static str, String)], teller: &SyncSender<Told>) -> Option<Told> {
    let mut frames = Frames::default();
    let ended = client.stream("/v1/stream", parameters, |piece| {
        frames.take(piece, |frame| {
            Ok(said(&frame.event, &frame.data).map_or(Ok(()), |told| teller.send(told))?)
        })
    });
    match ended {
        Ok(()) => Some(Told::Away(anyhow::anyhow!("the gateway closed the stream"))),
        Err(error) if is_passing(&error) => Some(Told::Away(error)),
        Err(error) => {
            let _ = teller.send(Told::Refused(error));
            None
        }
    }
}

fn said(event: &str, data: &str) -> Option<Told> {
    match event {
        "open" => Some(Told::Open),
        "lagged" => Some(Told::Lagged),
        "accepted" => {
            let data: Value = serde_json::from_str(data).unwrap_or_default();
            Some(Told::Accepted(text(&data["id"]).to_owned()))
        }
        _ => None,
    }
}
