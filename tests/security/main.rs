//! What input from others cannot do, and where secrets never appear.

mod credentials;
mod hostile;
mod injection;
mod safety;
mod secrets;
