//! The control API: devices, audiences, the clock and the log of requests, over HTTP.

mod asking;
mod audience;
mod devices;
mod harness;
mod looking;
