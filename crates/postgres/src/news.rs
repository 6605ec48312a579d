//! The node's dealings with the others, in one task: it renews its lease, buries the dead, takes and gives up shards,
//! reads its mail and the changes of the configuration, and tells the engine.

use crate::assignment::part_of;
use crate::configuration;
use crate::database::Shared;
use crate::error::QueryError;
use crate::mail::{Fate, Taken};
use crate::members::Identity;
use crate::notice::Heard;
use crate::pause::{PAUSE_MAX, pause};
use crate::{PostgresOptions, mail, members, queue, starts};
use deadpool_postgres::Object;
use postrider_core::pauses::Pauses;
use postrider_store::heartbeat::Heartbeat;
use postrider_store::{Gained, Mail, News, Shards};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio_postgres::IsolationLevel;

/// Behind notifications, which may be lost.
const POLL: Duration = Duration::from_secs(1);
/// However short a lease is.
const ROUND_LEAST: Duration = Duration::from_millis(100);

pub(crate) struct Tending {
    database: Shared,
    name: String,
    lease: Duration,
    heard: Arc<Heard>,
    own: Shards,
    /// What the engine is to hear and has no room for yet. A round may be cut off at any moment, and what is told is told
    /// once: so it waits here, and not in the round. No more than one round brings, since the next begins with telling it.
    untold: VecDeque<News>,
    /// Mail that was taken out, of which nothing may be told before what was configured until then.
    letters: Vec<Mail>,
    /// The same of a transaction of which it is not known whether it was made.
    unsettled: Option<Taken>,
    renewed: Instant,
}

impl Tending {
    pub(crate) fn new(database: Shared, options: &PostgresOptions, heard: Arc<Heard>) -> Self {
        let (renewed, name, lease) = (Instant::now(), options.node_name.clone(), options.lease);
        Tending {
            database,
            name,
            lease,
            heard,
            own: Shards::NONE,
            untold: VecDeque::new(),
            letters: Vec::new(),
            unsettled: None,
            renewed,
        }
    }

    /// Until the store is dropped.
    pub(crate) async fn run(mut self) {
        let mut pauses = Pauses::new(ROUND_LEAST, PAUSE_MAX.min(self.lease / 4).max(ROUND_LEAST));
        let heartbeat = Heartbeat::start("lease");
        loop {
            heartbeat.beat();
            // A server that does not answer must not keep it from asking again on another connection.
            let patience = (self.lease / 2).max(ROUND_LEAST);
            let done = tokio::time::timeout(patience, self.round()).await;
            let done = done.unwrap_or(Err(QueryError::Late(patience)));
            if self.database.news.is_closed() || self.database.leaving.load(Ordering::Acquire) {
                return;
            }
            match done {
                Ok(()) => {
                    pauses.begin_anew();
                    let wait = POLL.min(self.lease / 3).max(ROUND_LEAST);
                    self.heard.wait(wait).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "this node cannot reach the others");
                    self.database.forget_connections(&error);
                    pause(&mut pauses).await;
                }
            }
        }
    }

    /// Once through everything.
    pub(crate) async fn round(&mut self) -> Result<(), QueryError> {
        let mut client = self.database.urgent_client().await?;
        let shared_anew = self.heard.take_shards();
        let is_due = self.renewed.elapsed() >= self.lease / 3 || self.own.is_empty() || shared_anew;
        if is_due {
            self.renew(&mut client).await?;
        }
        self.tell_all().await;
        if is_due {
            members::bury_dead(&mut client).await?;
            self.balance(&mut client).await?;
        }
        self.take_mail(&mut client).await?;
        // Whoever wrote a letter knew its destination: after it was read, so does whoever reads what is configured.
        configuration::tell_newer(&self.database, &client).await?;
        self.untold.extend(self.letters.drain(..).map(News::Mail));
        self.tell_all().await;
        Ok(())
    }

    async fn tell_all(&mut self) {
        while !self.untold.is_empty() {
            // An engine that is gone needs to hear nothing.
            let Ok(room) = self.database.news.reserve().await else { return };
            if let Some(news) = self.untold.pop_front() {
                room.send(news);
            }
        }
    }

    async fn renew(&mut self, client: &mut Object) -> Result<(), QueryError> {
        // Before it is asked for, so that ours ends no later than the server's.
        let asked = Instant::now();
        let identity = self.database.membership.identity();
        if members::renew(client, identity, self.lease).await? {
            self.renewed = asked;
            // One that was not told yet is of no use any more.
            self.untold.pop_back_if(|last| matches!(last, News::Lease(_)));
            self.untold.push_back(News::Lease(asked + self.lease));
            return Ok(());
        }
        if self.database.leaving.load(Ordering::Acquire) {
            return Ok(());
        }
        self.begin_anew(client).await
    }

    async fn begin_anew(&mut self, client: &mut Object) -> Result<(), QueryError> {
        tracing::warn!("another node took over from this node; it joins the cluster again");
        self.own = Shards::NONE;
        (self.letters, self.unsettled) = (Vec::new(), None);
        self.database.wanted.store(0, Ordering::Release);
        // Whatever it owned: the engine may hold more for its own than is known here.
        self.untold.push_back(News::Lost(Shards::ALL));
        self.tell_all().await;
        // Taken before there is a new life: with a wait between both, it could be cut off and known to the others alone.
        let room = self.database.news.reserve().await;
        let identity = members::join(client, &self.name, self.lease).await?;
        // Nothing is written in it that was made by who has not heard of it.
        let life = self.database.membership.begin_anew(identity);
        if let Ok(room) = room {
            room.send(News::NewLife { node: u16::try_from(identity.node).unwrap_or(0), life });
        }
        Ok(())
    }

    /// Takes what is free and to be ours, and has the engine let go of what is not.
    async fn balance(&mut self, client: &mut Object) -> Result<(), QueryError> {
        let database = Arc::clone(&self.database);
        // Whoever hands over tells all nodes when it is done, this one too.
        let Ok(_turn) = database.sharing.try_lock() else { return Ok(()) };
        let identity = self.database.membership.identity();
        let owned = members::owned(client, identity).await?;
        // What was handed over is gone. Anything else that is was taken: it was buried since it renewed its lease.
        let lost = self.own.without(owned).without(self.database.wanted());
        if !lost.is_empty() {
            self.untold.push_back(News::Lost(lost));
        }
        self.own = self.own.within(owned);
        let wanted = self.database.wanted().within(self.own);
        let part = part_of(identity, &members::all(client).await?);
        let taken = members::take(client, identity, part.without(owned)).await?;
        // Also what was taken in a round that broke off before it was told.
        let new = owned.and(taken.shards).without(self.own);
        if !new.is_empty() {
            let gained = look_into(client, identity, new, taken.clean).await?;
            configuration::tell_newer(&self.database, client).await?;
            self.own = self.own.and(new);
            self.untold.push_back(News::Gained(gained));
        }
        let surplus = self.own.without(part).without(wanted);
        self.database.wanted.store(wanted.and(surplus).bits(), Ordering::Release);
        if !surplus.is_empty() {
            self.untold.push_back(News::Wanted(surplus));
        }
        self.database.own.store(self.own.bits(), Ordering::Relaxed);
        Ok(())
    }

    /// Mail is told once: a letter that is lost is an event that nobody sends, one that is told twice is counted twice.
    async fn take_mail(&mut self, client: &mut Object) -> Result<(), QueryError> {
        if let Some(unsettled) = &self.unsettled {
            match unsettled.fate(client).await? {
                Fate::Made => self.settled(),
                Fate::RolledBack => self.unsettled = None,
                // Its rows are held, so they cannot be taken out again either.
                Fate::Unknown => return Ok(()),
            }
        }
        let change = client.transaction().await?;
        let taken = mail::take(&change, self.database.membership.identity(), self.own).await?;
        self.unsettled = Some(taken);
        change.commit().await?;
        self.settled();
        Ok(())
    }

    fn settled(&mut self) {
        self.letters.extend(self.unsettled.take().unwrap_or_default().letters);
    }
}

/// What is in shards that are now ours, in one snapshot with the mail that tells of the same.
async fn look_into(
    client: &mut Object,
    identity: Identity,
    shards: Shards,
    clean: Shards,
) -> Result<Gained, QueryError> {
    let reading = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).start().await?;
    mail::take(&reading, identity, shards).await?;
    let lines = queue::lines(&reading, shards).await?;
    let mut circuits = configuration::circuits(&reading).await?;
    circuits.retain(|(destination, _)| shards.own(*destination));
    starts::forget_outdated(&reading, shards).await?;
    let starts = starts::interrupted(&reading, shards).await?;
    reading.commit().await?;
    Ok(Gained { shards, clean, lines, circuits, starts })
}
