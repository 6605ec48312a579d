//! What bodies of requests may hold. These only describe: [`super::fields::Fields`] reads them, since its sentences
//! say what is wrong. A test compares the two.

#![expect(dead_code, reason = "the fields are read by the derived descriptions alone")]

mod account;
mod api_key;
mod dead_letter;
mod destination;
mod event_type;
mod limits;
mod name;
mod outbound_event;
mod portal;
mod replay;
mod retry_policy;
mod route;
mod sample_event;
mod source;

pub(crate) use account::{AccountChange, NewAccount};
pub(crate) use api_key::{ApiKeyChange, NewApiKey};
pub(crate) use dead_letter::DeadLetterFilter;
pub(crate) use destination::{CircuitOrder, DestinationChange, NewDestination, NewTrial, Rotation};
pub(crate) use event_type::{EventTypeChange, NewEventType};
pub(crate) use limits::{Circuit, RateLimit};
pub(crate) use name::Nothing;
pub(crate) use outbound_event::{CloudEvent, NewOutboundEvent};
pub(crate) use portal::{BrandChange, NewPortalSession};
pub(crate) use replay::{EventAgain, EventElsewhere, NewReplay, ReplayChange};
pub(crate) use retry_policy::RetryPolicy;
pub(crate) use route::{NewRoute, PriorityRule, RouteChange};
pub(crate) use sample_event::SampleEvent;
pub(crate) use source::{NewSource, SourceChange};
