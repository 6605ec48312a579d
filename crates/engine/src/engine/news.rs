//! Hears what the other nodes do. Nothing here waits for an attempt to end: the lease must be heard meanwhile.

use super::Engine;
use super::ownership::{hand_over, read};
use crate::dispatch::Control;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use postrider_store::heartbeat::Heartbeat;
use postrider_store::{Gained, LineDepth, Mail, News, Shards};
use std::sync::{Arc, Weak};
use tokio::sync::oneshot;

/// Hears the news until the engine is gone.
pub(super) async fn follow(engine: Weak<Engine>) {
    let Some(store) = engine.upgrade().map(|engine| Arc::clone(&engine.store)) else { return };
    let (mut awaited, heartbeat) = (Awaited::default(), Heartbeat::start("cluster-events"));
    loop {
        heartbeat.rest();
        let next = tokio::select! {
            news = store.news() => Next::News(news),
            Some(number) = awaited.idle.next(), if !awaited.idle.is_empty() => Next::Idle(number),
        };
        heartbeat.beat();
        let Some(engine) = engine.upgrade() else { return };
        match next {
            Next::News(news) => engine.hear(news, &mut awaited).await,
            Next::Idle(number) => engine.gain_awaited(awaited.take(number)).await,
        }
    }
}

enum Next {
    News(News),
    Idle(u64),
}

/// Shards that were gained while attempts of an earlier time of theirs are in flight. Those must not be mixed up with
/// new ones, so the shards wait for them, and so does their mail.
#[derive(Default)]
struct Awaited {
    last: u64,
    gains: Vec<AwaitedGain>,
    /// Each gives the number of the gain that it was for.
    idle: FuturesUnordered<BoxFuture<'static, u64>>,
}

struct AwaitedGain {
    number: u64,
    gained: Gained,
    mail: Vec<Mail>,
}

impl Awaited {
    fn push(&mut self, gained: Gained, idle: oneshot::Receiver<()>) {
        self.last += 1;
        let number = self.last;
        self.gains.push(AwaitedGain { number, gained, mail: Vec::new() });
        self.idle.push(Box::pin(async move {
            let _ = idle.await;
            number
        }));
    }

    fn take(&mut self, number: u64) -> Option<AwaitedGain> {
        let index = self.gains.iter().position(|gain| gain.number == number)?;
        Some(self.gains.swap_remove(index))
    }

    /// Keeps a letter to a shard that waits; gives back any other.
    fn keep(&mut self, mail: Mail) -> Option<Mail> {
        let to = mail.shard();
        let Some(gain) = self.gains.iter_mut().find(|gain| gain.gained.shards.contains(to)) else {
            return Some(mail);
        };
        gain.keep(mail);
        None
    }

    fn lose(&mut self, lost: Shards) {
        for gain in &mut self.gains {
            gain.gained = std::mem::take(&mut gain.gained).without(lost);
            gain.mail.retain(|mail| !lost.contains(mail.shard()));
        }
    }
}

impl AwaitedGain {
    /// What arrives in a line adds up, so that there are no more letters than lines, however long it takes.
    fn keep(&mut self, mail: Mail) {
        if let Mail::Arrived(LineDepth { line, rows, bytes }) = mail {
            let known = self.mail.iter_mut().find_map(|known| match known {
                Mail::Arrived(depth) if depth.line == line => Some(depth),
                _ => None,
            });
            if let Some(known) = known {
                (known.rows, known.bytes) = (known.rows + rows, known.bytes + bytes);
                return;
            }
        }
        self.mail.push(mail);
    }
}

impl Engine {
    async fn hear(self: &Arc<Self>, news: News, awaited: &mut Awaited) {
        match news {
            News::Lease(until) => {
                self.lease.renew(until);
                self.tell(Control::Leased).await;
            }
            News::NewLife { node, life } => {
                self.ids.renumber(node);
                // Behind what it has lost, by the same way: what is told to be of this life knows of that.
                self.tell(Control::NewLife(life)).await;
            }
            News::Gained(gained) => {
                self.note_holds(&gained);
                let (reply, idle) = oneshot::channel();
                self.tell(Control::Idle(gained.shards, reply)).await;
                awaited.push(gained, idle);
            }
            News::Lost(shards) => {
                awaited.lose(shards);
                self.replays.lose(shards);
                self.tell(Control::Lose(shards)).await;
            }
            News::Wanted(shards) => {
                awaited.lose(shards);
                self.replays.lose(shards);
                drop(self.runtime.spawn(hand_over(Arc::clone(self), shards)));
            }
            News::Mail(mail) => {
                if let Some(mail) = awaited.keep(mail) {
                    self.take_mail(mail).await;
                }
            }
            News::Configured(version, changes) => {
                for change in changes {
                    self.take_over(change).await;
                }
                self.heard_version.send_replace(version);
            }
        }
    }

    async fn gain_awaited(&self, gain: Option<AwaitedGain>) {
        let Some(AwaitedGain { gained, mail, .. }) = gain.filter(|gain| !gain.gained.shards.is_empty())
        else {
            return;
        };
        self.gain(gained).await;
        for letter in mail {
            self.take_mail(letter).await;
        }
    }

    async fn take_mail(&self, mail: Mail) {
        match mail {
            Mail::Replay(id) => self.replays.look(id).await,
            mail => {
                if let Some(control) = read(&mail) {
                    self.tell(control).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::delivery::{Line, Priority};
    use postrider_core::id::DestinationId;
    use postrider_store::Shard;

    fn arrived(destination: u64, rows: u64) -> Mail {
        let line = Line::first(DestinationId::from_u64(destination), Priority::Normal, None);
        Mail::Arrived(LineDepth { line, rows, bytes: rows * 10 })
    }

    #[test]
    fn mail_waits_with_its_shard_and_goes_when_the_shard_is_lost() {
        let (one, other) = (DestinationId::from_u64(1), DestinationId::from_u64(2));
        let shards: Shards = [Shard::of(one), Shard::of(other)].into_iter().collect();
        assert_eq!(shards.len(), 2);
        let mut awaited = Awaited::default();
        awaited.push(Gained { shards, ..Gained::default() }, oneshot::channel().1);
        assert!(awaited.keep(arrived(1, 3)).is_none());
        assert!(awaited.keep(arrived(1, 4)).is_none());
        assert!(awaited.keep(arrived(2, 5)).is_none());
        let elsewhere = (3..).find(|id| !shards.own(DestinationId::from_u64(*id))).unwrap();
        assert_eq!(awaited.keep(arrived(elsewhere, 1)), Some(arrived(elsewhere, 1)));
        awaited.lose(Shards::NONE.with(Shard::of(other)));
        let left = awaited.take(1).unwrap();
        assert_eq!((left.gained.shards, left.mail), (Shards::NONE.with(Shard::of(one)), vec![arrived(1, 7)]));
        assert!(awaited.take(1).is_none());
    }
}
