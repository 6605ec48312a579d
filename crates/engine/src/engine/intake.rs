//! Taking events in: from a source, through the API, or from the past.

use super::{ChangeError, Engine};
use crate::expression::Facts;
use crate::ingest::{self, Accepted, Answer, Arrival, Draft, IngestError, Reply};
use crate::routing::{self, Owed};
use crate::schema::Schema;
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, EventId, SourceId};
use postrider_core::limits::BATCH_DELIVERIES_MAX;
use postrider_store::{EventContent, Origin, SendWindow, Source};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Events of a batch that are matched with routes before others on the thread have their turn.
const ROUTED_AT_ONCE: usize = 32;

/// What became of an event that was to be taken in again.
#[derive(Debug)]
pub enum Replayed {
    /// It is on disk as a new event.
    Accepted(Accepted),
    /// There is no such event.
    Unknown,
    /// No route of today leads it to the destination that was asked for.
    NotRouted,
}

/// An event on its way to its commit.
pub struct Offered {
    account: AccountId,
    stage: Stage,
}

/// How far it has come.
enum Stage {
    /// It waits to be written, and this is where its answer will be.
    Submitted { traced: Option<Arc<EventContent>>, answer: oneshot::Receiver<Answer> },
    /// Its schema takes so long that it is checked elsewhere first.
    Unchecked(Box<Unchecked>),
}

/// An event of a source, before it is known to be what its schema asks for.
struct Unchecked {
    source: SourceId,
    source_name: String,
    arrival: Arrival,
    schema: Arc<Schema>,
}

/// What an arrival owes, if that is known at once.
enum Owing {
    Known(Vec<Owed>),
    Unchecked(Arc<Schema>),
}

impl Engine {
    /// Takes an event of a source in. Once this is `Ok`, the event and all that is owed for it are on disk.
    pub async fn ingest(&self, source: &Source, arrival: Arrival) -> Result<Accepted, IngestError> {
        self.kept(self.offer(source, arrival)?).await
    }

    /// The first half of [`Engine::ingest`]. Apart, so that whoever waits for the second keeps nothing of what the event
    /// came with, and each of thousands of connections need not have room for it.
    pub fn offer(&self, source: &Source, arrival: Arrival) -> Result<Offered, IngestError> {
        match self.owing(source.account, Some(source), &arrival)? {
            Owing::Known(owed) => self.submit_of(source.account, source.id, arrival, owed),
            Owing::Unchecked(schema) => {
                let source_name = source.name.clone();
                let unchecked = Unchecked { source: source.id, source_name, arrival, schema };
                Ok(Offered { account: source.account, stage: Stage::Unchecked(Box::new(unchecked)) })
            }
        }
    }

    fn submit_of(
        &self,
        account: AccountId,
        source: SourceId,
        arrival: Arrival,
        owed: Vec<Owed>,
    ) -> Result<Offered, IngestError> {
        let (reply, answer) = Reply::channel();
        let draft = ingest::draft(account, Origin::Source(source), arrival, owed, self.clock.now(), reply);
        self.submit(draft, answer)
    }

    /// The second half: once this is `Ok`, the event and all that is owed for it are on disk.
    pub async fn kept(&self, offered: Offered) -> Result<Accepted, IngestError> {
        let Offered { account, stage } = offered;
        let (traced, answer) = match stage {
            Stage::Submitted { traced, answer } => (traced, answer),
            Stage::Unchecked(unchecked) => Box::pin(self.submit_checked(account, *unchecked)).await?,
        };
        let answer = answer.await.unwrap_or(Err(IngestError::Unavailable));
        self.note_shed(account, &answer);
        self.trace(traced.as_deref(), &answer);
        answer
    }

    async fn submit_checked(
        &self,
        account: AccountId,
        unchecked: Unchecked,
    ) -> Result<(Option<Arc<EventContent>>, oneshot::Receiver<Answer>), IngestError> {
        let Unchecked { source, source_name, arrival, schema } = unchecked;
        self.check_elsewhere(account, schema, arrival.body.clone()).await?;
        let owed = self.routed(account, Some((source, &source_name)), &arrival, None);
        match self.submit_of(account, source, arrival, owed)?.stage {
            Stage::Submitted { traced, answer } => Ok((traced, answer)),
            Stage::Unchecked(_) => unreachable!("what is submitted is checked"),
        }
    }

    /// Takes an event in for one destination alone, by the route of its source that leads there.
    pub async fn ingest_to(
        &self,
        source: &Source,
        destination: DestinationId,
        arrival: Arrival,
    ) -> Result<Accepted, IngestError> {
        let mut owed = self.owed(source.account, Some(source), &arrival).await?;
        owed.retain(|owed| owed.destination == destination);
        let (reply, answer) = Reply::channel();
        let origin = Origin::Source(source.id);
        let draft = ingest::draft(source.account, origin, arrival, owed, self.clock.now(), reply);
        self.kept(self.submit(draft, answer)?).await
    }

    /// Takes an event in that an account sends through the API, with this key of its own or the operator's.
    pub async fn send(
        &self,
        account: AccountId,
        key: Option<ApiKeyId>,
        arrival: Arrival,
    ) -> Result<Accepted, IngestError> {
        let owed = self.owed(account, None, &arrival).await?;
        let (reply, answer) = Reply::channel();
        let draft = ingest::draft(account, Origin::Api(key), arrival, owed, self.clock.now(), reply);
        self.kept(self.submit(draft, answer)?).await
    }

    /// Takes many such events in with one commit, and gives what became of each in their order. An error is of all:
    /// then none of them is on disk.
    pub async fn send_all(
        &self,
        account: AccountId,
        key: Option<ApiKeyId>,
        arrivals: Vec<Arrival>,
    ) -> Result<Vec<Result<Accepted, IngestError>>, IngestError> {
        if arrivals.is_empty() {
            return Ok(Vec::new());
        }
        self.admit(account)?;
        let now = self.clock.now();
        let (mut drafts, mut replies, mut deliveries) = (Vec::with_capacity(arrivals.len()), Vec::new(), 0);
        for (index, arrival) in arrivals.into_iter().enumerate() {
            // The thread has others to serve.
            if index % ROUTED_AT_ONCE == ROUTED_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
            replies.push(self.owed(account, None, &arrival).await.map(|owed| {
                let (reply, answer) = Reply::channel();
                let mut draft = ingest::draft(account, Origin::Api(key), arrival, owed, now, reply);
                draft.reply.is_with_previous = !drafts.is_empty();
                deliveries += draft.owed.len();
                let traced = self.to_be_traced(&draft);
                drafts.push(draft);
                (traced, answer)
            }));
            // Before more is matched: what is too much for a commit is too much for the memory, too.
            if deliveries > BATCH_DELIVERIES_MAX {
                return Err(IngestError::TooWide);
            }
        }
        if !drafts.is_empty() {
            let taken = self.batches.try_send(drafts).map_err(|refused| not_taken(&refused));
            taken.inspect_err(|error| self.meters.shed.note(account, error))?;
        }
        let mut answers = Vec::with_capacity(replies.len());
        for reply in replies {
            answers.push(match reply {
                Err(of_this) => Err(of_this),
                Ok((traced, answer)) => {
                    let answer = answer.await.unwrap_or(Err(IngestError::Unavailable));
                    self.trace(traced.as_deref(), &answer);
                    match answer {
                        Ok(_) | Err(IngestError::Conflict(_)) => answer,
                        Err(of_all) => return Err(of_all),
                    }
                }
            });
        }
        Ok(answers)
    }

    /// Takes an event of the past in again, for the routes of today and to be sent at once; with `only`, for those that
    /// lead to this destination.
    pub async fn replay(
        &self,
        account: AccountId,
        event: EventId,
        only: Option<DestinationId>,
    ) -> Result<Replayed, ChangeError<IngestError>> {
        let Some(found) = self.event(account, event).await.map_err(ChangeError::Store)? else {
            return Ok(Replayed::Unknown);
        };
        let mut content = found.content;
        let source = content.origin.source();
        let known = source.and_then(|id| self.catalog().source(account, id).cloned());
        // The routes of a source that is deleted are gone with it, and the others take nothing from nowhere.
        let mut owed = match (source, &known) {
            (Some(_), None) => Vec::new(),
            (_, known) => {
                let name = known.as_deref().map_or("", |source| &source.name);
                let event_type = content.event_type.as_ref();
                let matching = self.catalog().matching(account, source, event_type);
                routing::owed(&matching, &Facts::new(event_type, name, &content.headers, &content.body))
            }
        };
        if let Some(only) = only {
            owed.retain(|owed| owed.destination == only);
            if owed.is_empty() {
                return Ok(Replayed::NotRouted);
            }
        }
        let (reply, answer) = Reply::channel();
        content.received_at = self.clock.now();
        content.window = SendWindow::default();
        content.replay_of = Some(content.replay_of.unwrap_or(event));
        let draft = Draft {
            external_id: found.external_id,
            content: Arc::new(content),
            idempotency: None,
            owed,
            reply,
        };
        let offered = self.submit(draft, answer).map_err(ChangeError::Refused)?;
        self.kept(offered).await.map(Replayed::Accepted).map_err(ChangeError::Refused)
    }

    /// All that an arrival owes, if it is what the schema of its type asks for.
    async fn owed(
        &self,
        account: AccountId,
        source: Option<&Source>,
        arrival: &Arrival,
    ) -> Result<Vec<Owed>, IngestError> {
        match self.owing(account, source, arrival)? {
            Owing::Known(owed) => Ok(owed),
            Owing::Unchecked(schema) => {
                self.check_elsewhere(account, schema, arrival.body.clone()).await?;
                Ok(self.routed(
                    account,
                    source.map(|source| (source.id, source.name.as_str())),
                    arrival,
                    None,
                ))
            }
        }
    }

    fn owing(
        &self,
        account: AccountId,
        source: Option<&Source>,
        arrival: &Arrival,
    ) -> Result<Owing, IngestError> {
        let schema = self.catalog().event_types().schema(account, arrival.event_type.as_ref());
        let parsed = match schema {
            None => None,
            Some(schema) => match schema.check_briefly(&arrival.body) {
                None => return Ok(Owing::Unchecked(schema)),
                Some(checked) => Some(checked.map_err(Box::new)?),
            },
        };
        let source = source.map(|source| (source.id, source.name.as_str()));
        Ok(Owing::Known(self.routed(account, source, arrival, parsed)))
    }

    fn routed(
        &self,
        account: AccountId,
        source: Option<(SourceId, &str)>,
        arrival: &Arrival,
        parsed: Option<Value>,
    ) -> Vec<Owed> {
        let event_type = arrival.event_type.as_ref();
        let matching = self.catalog().matching(account, source.map(|(id, _)| id), event_type);
        let name = source.map_or("", |(_, name)| name);
        let facts = Facts::new(event_type, name, &arrival.headers, &arrival.body);
        if let Some(parsed) = parsed {
            facts.parsed(parsed);
        }
        let mut owed = routing::owed(&matching, &facts);
        if let Some(priority) = arrival.priority {
            owed.iter_mut().for_each(|owed| owed.priority = priority);
        }
        owed
    }

    fn submit(&self, draft: Draft, answer: oneshot::Receiver<Answer>) -> Result<Offered, IngestError> {
        let (account, traced) = (draft.content.account, self.to_be_traced(&draft));
        let send = |()| self.drafts.try_send(draft).map_err(|refused| not_taken(&refused));
        let taken = self.has_room(account).and_then(send);
        self.note_shed(account, &taken);
        taken.map(|()| Offered { account, stage: Stage::Submitted { traced, answer } })
    }

    fn note_shed<T>(&self, account: AccountId, answer: &Result<T, IngestError>) {
        if let Err(error) = answer {
            self.meters.shed.note(account, error);
        }
    }

    /// What a span will tell of, if somebody collects them.
    fn to_be_traced(&self, draft: &Draft) -> Option<Arc<EventContent>> {
        self.spans.as_ref().map(|_| Arc::clone(&draft.content))
    }

    /// An event that was accepted is told as a span.
    fn trace(&self, traced: Option<&EventContent>, answer: &Answer) {
        let (Some(spans), Some(content)) = (&self.spans, traced) else { return };
        if let Ok(Accepted { id, duplicate: false, .. }) = answer {
            spans.accepted(*id, content, self.clock.now());
        }
    }
}

fn not_taken<T>(refused: &mpsc::error::TrySendError<T>) -> IngestError {
    match refused {
        mpsc::error::TrySendError::Full(_) => IngestError::Overloaded,
        mpsc::error::TrySendError::Closed(_) => IngestError::Stopping,
    }
}
