//! Questions that are asked together: while one exchange is under way, others wait, and the next one answers them all.

use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

/// A question that waits, and where its answer goes.
type Waiting<Q, A> = (Q, oneshot::Sender<A>);

pub(super) struct Together<Q, A> {
    waiting: Mutex<Vec<Waiting<Q, A>>>,
    /// Held by the one that asks for all. Not bound to a runtime: each apply has its own.
    turn: tokio::sync::Mutex<()>,
}

impl<Q, A> Default for Together<Q, A> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }
}

impl<Q, A> Together<Q, A> {
    /// Asks a question, together with the questions of other targets. `exchange` answers all questions in order. It begins once
    /// `gathered` is done: until then, others may join. Returns `None` if the task that asks for all of them was dropped before
    /// there was an answer.
    pub(super) async fn ask<Answers>(
        &self,
        question: Q,
        gathered: impl Future<Output = ()>,
        exchange: impl FnOnce(Vec<Q>) -> Answers,
    ) -> Option<A>
    where
        Answers: Future<Output = Vec<A>>,
    {
        let (tell, mut told) = oneshot::channel();
        self.waiting().push((question, tell));
        let _turn = tokio::select! {
            biased;
            answer = &mut told => return answer.ok(),
            turn = self.turn.lock() => turn,
        };
        match told.try_recv() {
            Ok(answer) => return Some(answer),
            Err(oneshot::error::TryRecvError::Closed) => return None,
            Err(oneshot::error::TryRecvError::Empty) => {}
        }
        gathered.await;
        // What nobody waits for any more is not done.
        let all = std::mem::take(&mut *self.waiting());
        let (questions, tell): (Vec<Q>, Vec<oneshot::Sender<A>>) =
            all.into_iter().filter(|(_, tell)| !tell.is_closed()).unzip();
        let answers = exchange(questions).await;
        for (tell, answer) in tell.into_iter().zip(answers) {
            let _ = tell.send(answer);
        }
        told.await.ok()
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Waiting<Q, A>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
