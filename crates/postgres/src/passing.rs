//! Which errors of the server are of the moment and pass by themselves, and which wait for a person.

use std::error::Error;
use std::io;
use tokio_postgres::error::SqlState;

/// A server that starts, stops or recovers, is full, or has others before us.
const PASSING: [SqlState; 9] = [
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::TOO_MANY_CONNECTIONS,
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::QUERY_CANCELED,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::CONNECTION_FAILURE,
];

/// Whether trying again later may work, with nothing changed by a person.
pub(crate) fn may_pass(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(state) => PASSING.contains(state),
        None => error.is_closed() || socket_fault(error).is_some_and(may_pass_by_itself),
    }
}

/// What the system said of the connection, if it did.
fn socket_fault(error: &tokio_postgres::Error) -> Option<&io::Error> {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.find_map(|cause| cause.downcast_ref::<io::Error>())
}

/// A host that is not known yet, a socket that is not there yet, nobody who listens, and all that breaks midway. Not a
/// certificate that is refused, which is invalid data to the system. That none of several hosts takes writes, of which the
/// system says nothing, passes when one of them is promoted.
fn may_pass_by_itself(fault: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, PermissionDenied, Unsupported};
    match fault.kind() {
        InvalidData | InvalidInput | Unsupported => false,
        PermissionDenied => fault.raw_os_error().is_none(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io::ErrorKind;

    #[test]
    fn a_socket_that_is_not_there_may_come_and_a_refused_certificate_stays_refused() {
        let passing = [ErrorKind::ConnectionRefused, ErrorKind::NotFound, ErrorKind::TimedOut];
        assert!(passing.into_iter().all(|kind| may_pass_by_itself(&kind.into())));
        assert!(may_pass_by_itself(&io::Error::other("failed to lookup address information")));
        let not_yet = io::Error::new(ErrorKind::PermissionDenied, "database does not allow writes");
        assert!(may_pass_by_itself(&not_yet));
        assert!(!may_pass_by_itself(&ErrorKind::InvalidData.into()));
        let denied_by_the_system = io::Error::from_raw_os_error(13);
        assert!(!may_pass_by_itself(&denied_by_the_system));
    }
}
