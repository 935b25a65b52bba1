//! Applying a plan to the target of a workspace.

mod kept;
mod unchanged;

use jiff::Timestamp;
use tokio::runtime::Builder;
use tokio::task::block_in_place;

use super::actor::{self, Actor};
use super::target::Opened;
use super::workspace::{Planned, Workspace};
use super::{Session, turn};
use crate::apply::{self, ApplySettings, Ending, Notice, OnError, Report};

/// The settings of an apply.
#[derive(Clone, Copy, Debug)]
pub struct ApplyRequest {
    /// The number of requests in flight at a time.
    pub concurrency: usize,
    pub on_error: OnError,
}

impl Default for ApplyRequest {
    fn default() -> Self {
        Self { concurrency: 8, on_error: OnError::Stop }
    }
}

impl Workspace {
    /// Applies a plan until `stop` is ready: then no further step begins. `tell` receives each step that has ended.
    ///
    /// Does not check guards and does not wait for other runs: see [`crate::guard`] and [`turn`]. The ledger refuses it
    /// if another run has begun since the plan was made. Needs a runtime with several threads.
    pub async fn apply(
        &self,
        opened: &Opened,
        planned: &Planned,
        request: ApplyRequest,
        stop: impl Future<Output = ()>,
        tell: &mut (dyn FnMut(Notice) + Send),
        session: &Session,
    ) -> Report {
        let run = uuid::Uuid::new_v4().to_string();
        // Other processes on this machine see at once when this one is killed.
        let _presence = self.log.show_presence(&run);
        let settings = ApplySettings {
            concurrency: request.concurrency,
            send_within: self.send_within,
            lease: Actor::here().lease(self.lease),
            ahead: opened.ahead(),
            digest: planned.digest.clone(),
            on_error: request.on_error,
            ..ApplySettings::new(run, actor::name())
        };
        let Planned { plan, ledger, .. } = planned;
        let writing = opened.writing().apart();
        let drive = apply::drive(plan.clone(), ledger, settings, &writing, &self.log, stop, tell);
        // Requests are short, so handing them from thread to thread would cost too much.
        let (mut report, known) = match Builder::new_current_thread().enable_all().build() {
            Ok(own) => block_in_place(|| {
                let driven = own.block_on(drive);
                own.shutdown_background();
                driven
            }),
            Err(_) => drive.await,
        };
        tell(Notice::Over);
        if report.ending == Ending::Conflict
            && let Some(by) = turn::ended_by(&self.log, &report).await
        {
            report.ending = Ending::Unlocked { by };
        }
        kept::keep(&report, self, session);
        // Everything is written; the checkpoint only makes reading faster and may fail.
        self.log.checkpoint(&known, &actor::name(), Timestamp::now()).await;
        report
    }
}
