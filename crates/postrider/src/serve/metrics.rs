//! The address of its own that metrics can have. It is served beside the workers, so that it answers while they are busy.

use super::room::ConnectionLimits;
use super::{HANDOVER_MAX, connections, listen};
use crate::api::{self, App};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Scrapers are few, and come beside all other connections.
const CONNECTIONS_MAX: usize = 32;

/// An address that is listened on and not served yet.
pub(super) struct Listening {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddr,
}

impl Listening {
    /// None when no address is asked for.
    pub(super) fn start(address: Option<SocketAddr>) -> anyhow::Result<Option<Self>> {
        let Some(address) = address else { return Ok(None) };
        let listener = listen(address, "--metrics-listen")?;
        let address = listener.local_addr()?;
        Ok(Some(Listening { listener, address }))
    }

    /// Serves it until told to stop.
    pub(super) fn serve(self, app: Arc<App>, limits: ConnectionLimits, stopping: &watch::Receiver<bool>) {
        let limits = ConnectionLimits { total: limits.total.min(CONNECTIONS_MAX), ..limits };
        tracing::info!(address = %self.address, "serving metrics on a separate address");
        let (handover, incoming) = mpsc::channel(HANDOVER_MAX);
        let router = api::metrics_router(app, self.address);
        tokio::spawn(connections::serve(incoming, router.into(), stopping.clone()));
        let limits = watch::channel(limits).1;
        tokio::spawn(connections::accept(self.listener, limits, vec![handover], stopping.clone()));
    }
}
