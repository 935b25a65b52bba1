//! Records that are about to be written, where several ledgers are on one server.

use std::fmt;
use std::sync::Arc;

use super::Chain;
use crate::store::Server;

/// Announces records of a ledger to the others on its server, until it is dropped.
#[must_use]
pub struct Announced(Option<Arc<dyn Server>>, String);

impl fmt::Debug for Announced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Announced").field(&self.1).finish()
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        self.0.iter().for_each(|server| server.withdraw(&self.1));
    }
}

impl Chain {
    /// Announces that a run will write records soon, one after the other. Records of other ledgers on its server wait a moment
    /// for each of them, so that few connections are needed.
    pub fn announce(&self) -> Announced {
        let (server, target) = (self.0.store.server(), self.0.target.clone());
        server.iter().for_each(|server| server.announce(&target));
        Announced(server, target)
    }
}
