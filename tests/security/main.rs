//! Limits on the power of untrusted input, and places where secrets must never appear.

mod credentials;
mod hostile;
mod injection;
mod safety;
mod secrets;
