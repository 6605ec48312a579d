//! Why a call has no success, told apart where a caller goes on by it.

use http::StatusCode;

/// No answer came. Whether a call was carried out all the same is not known.
#[derive(Debug, thiserror::Error)]
#[error("the gateway at {0} cannot be reached (`postrider serve` starts one, --url names another)")]
pub(crate) struct Unreachable(pub(super) String);

/// An answer began and did not end.
#[derive(Debug, thiserror::Error)]
#[error("the response was cut off")]
pub(crate) struct CutOff;

/// The gateway said no.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(super) sentence: String,
}

/// Whether the same call may succeed later. Of calls that only read: there a conflict is one about too many at once.
pub(crate) fn is_passing(error: &anyhow::Error) -> bool {
    let is_away = error.is::<Unreachable>() || error.is::<CutOff>();
    let is_full = error.downcast_ref::<Refused>().is_some_and(|Refused { status, .. }| {
        status.is_server_error() || matches!(*status, StatusCode::TOO_MANY_REQUESTS | StatusCode::CONFLICT)
    });
    is_away || is_full
}

/// Whether the gateway is there and cannot do this now.
pub(crate) fn is_unavailable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == StatusCode::SERVICE_UNAVAILABLE)
}

/// Whether what was asked for is not there.
pub(crate) fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == StatusCode::NOT_FOUND)
}
