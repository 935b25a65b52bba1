//! An answer of the service, with its headers and raw bytes.

use pushplan_model::exchange::Answer;

/// An answer as parsed, with everything that it was parsed from.
#[derive(Clone, Debug)]
pub struct Whole {
    pub answer: Answer,
    /// Names are in lower case, in the received order.
    pub headers: Vec<(String, String)>,
    pub bytes: Vec<u8>,
}
