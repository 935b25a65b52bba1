//! The last moment before a request is sent.
//!
//! Between the decision to send and the first byte on the wire, a name has to be resolved, a connection opened and a
//! handshake made, and a machine may be suspended at any of these points. The body of a request is polled only when all
//! of that is done, and before the header is written. So the body knows whether anything was sent, and can hold all of
//! it back. An empty body is asked at the same moment whether it is at its end; if the request may not be sent, it
//! answers no, and then fails instead of returning data.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

const WAITING: u8 = 0;
const LEFT: u8 = 1;
const LATE: u8 = 2;
const GIVEN_UP: u8 = 3;

/// Whether a request was sent.
#[derive(Clone, Debug, Default)]
pub struct Departure(Arc<AtomicU8>);

/// The state of a request that has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departed {
    /// Bytes may have been sent.
    Yes,
    No,
    /// It was held back at the last moment.
    TooLate,
}

impl Departure {
    fn turn(&self, to: u8) -> Result<u8, u8> {
        self.0.compare_exchange(WAITING, to, Ordering::SeqCst, Ordering::SeqCst)
    }

    /// Returns whether it was sent. If it was not, it never will be, even if the connection still holds it.
    pub fn give_up(&self) -> Departed {
        match self.turn(GIVEN_UP) {
            Ok(_) | Err(GIVEN_UP) => Departed::No,
            Err(LATE) => Departed::TooLate,
            Err(_) => Departed::Yes,
        }
    }
}

/// The body of a request that may be held back.
pub struct Leaving {
    body: Option<Bytes>,
    may_leave: Box<dyn Fn() -> bool + Send + Sync>,
    departure: Departure,
}

impl Leaving {
    pub fn new(body: String, may_leave: impl Fn() -> bool + Send + Sync + 'static, departure: Departure) -> Self {
        Self { body: Some(body.into()), may_leave: Box::new(may_leave), departure }
    }

    /// Whether it is sent now. This is true at most once.
    fn leaves(&self) -> bool {
        let to = if (self.may_leave)() { LEFT } else { LATE };
        self.departure.turn(to).is_ok() && to == LEFT
    }

    fn is_empty(&self) -> bool {
        self.body.as_ref().is_some_and(Bytes::is_empty)
    }
}

impl Body for Leaving {
    type Data = Bytes;
    type Error = KeptBack;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, KeptBack>>> {
        // An empty body is polled only if it was held back.
        let leaves = !self.is_empty() && self.leaves();
        let Some(body) = self.body.take() else { return Poll::Ready(None) };
        Poll::Ready(Some(if leaves { Ok(Frame::data(body)) } else { Err(KeptBack) }))
    }

    fn is_end_stream(&self) -> bool {
        if self.is_empty() { self.leaves() } else { self.body.is_none() }
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.body.as_ref().map_or(0, |body| body.len() as u64);
        // The client does not poll a body without a length.
        SizeHint::with_exact(length.max(u64::from(self.is_empty())))
    }
}

/// The error of a body that is held back.
#[derive(Debug)]
pub struct KeptBack;

impl fmt::Display for KeptBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request was not sent")
    }
}

impl std::error::Error for KeptBack {}
