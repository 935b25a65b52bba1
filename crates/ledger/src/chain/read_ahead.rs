//! Reading several ledgers at once, where they are on one server.

use std::fmt;
use std::sync::Arc;

use super::Chain;
use crate::store::Server;

/// Ledgers that were read ahead, as long as that may be used.
#[must_use]
pub struct ReadAhead(Vec<Arc<dyn Server>>);

impl fmt::Debug for ReadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadAhead").field(&self.0.len()).finish()
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.0.iter().for_each(|server| server.forget_ahead());
    }
}

impl Chain {
    /// Reads ledgers that are on the same server, in few connections. The next read of each is as new as this call.
    pub async fn read_ahead(chains: impl IntoIterator<Item = &Self>) -> ReadAhead {
        let mut servers: Vec<(Arc<dyn Server>, Vec<String>)> = Vec::new();
        for chain in chains {
            let Some(server) = chain.0.store.server() else { continue };
            let target = chain.0.target.clone();
            match servers.iter_mut().find(|(other, _)| std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(&server))) {
                Some((_, targets)) => targets.push(target),
                None => servers.push((server, vec![target])),
            }
        }
        // One ledger gains nothing.
        servers.retain(|(_, targets)| targets.len() > 1);
        for (server, targets) in &servers {
            server.read_ahead(targets).await;
        }
        ReadAhead(servers.into_iter().map(|(server, _)| server).collect())
    }

    /// Whether the next read is one that was made ahead: it shows nothing of the time since.
    pub fn is_read_ahead(&self) -> bool {
        self.0.store.server().is_some_and(|server| server.is_ahead(&self.0.target))
    }
}
