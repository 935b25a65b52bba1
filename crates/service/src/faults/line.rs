//! A connection that can be broken, and an answer that can be incomplete.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// The error of a connection that ends without an answer.
#[derive(Debug)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken on purpose")
    }
}

impl std::error::Error for Broken {}

/// Requests that a connection ends with a reset.
#[derive(Clone, Debug, Default)]
pub struct Reset(Arc<AtomicBool>);

impl Reset {
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that ends with a reset if that is requested.
#[derive(Debug)]
pub struct FaultyStream {
    stream: TcpStream,
    reset: Reset,
}

impl FaultyStream {
    pub fn new(stream: TcpStream, reset: Reset) -> Self {
        Self { stream, reset }
    }
}

impl Drop for FaultyStream {
    fn drop(&mut self) {
        if self.reset.0.load(Ordering::Relaxed) {
            // If this fails, the connection is closed normally, which is similar.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for FaultyStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for FaultyStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    Whole(Full<Bytes>),
    /// Announces a length and ends before it.
    Cut {
        start: Option<Bytes>,
        length: u64,
        pause: Pin<Box<Sleep>>,
    },
}

impl Body {
    /// Returns the start of a longer body.
    pub fn cut(start: Bytes, length: usize) -> Self {
        // Gives the bytes time to leave the machine before the connection is dropped.
        let pause = Box::pin(tokio::time::sleep(Duration::from_millis(50)));
        Self::Cut { start: Some(start), length: length as u64, pause }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Self::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Self::Cut { start, pause, .. } => match start.take() {
                Some(start) => Poll::Ready(Some(Ok(Frame::data(start)))),
                None => pause.as_mut().poll(cx).map(|()| Some(Err(Broken))),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Cut { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Cut { length, .. } => SizeHint::with_exact(*length),
        }
    }
}
