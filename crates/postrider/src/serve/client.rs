//! Who is connected, for those few who ask. It is kept with the task that serves the connection, so no request pays for it.

use std::future::Future;
use std::net::IpAddr;

tokio::task_local! {
    static CLIENT: IpAddr;
}

/// Serves a connection of this client.
pub(super) async fn serving<F: Future>(client: IpAddr, connection: F) -> F::Output {
    CLIENT.scope(client, connection).await
}

/// The address of whoever is connected; `None` outside of a connection.
pub(crate) fn address() -> Option<IpAddr> {
    CLIENT.try_with(|client| *client).ok()
}
