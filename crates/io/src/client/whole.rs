//! An answer of the service, with all that came along.

use pushplan_model::exchange::Answer;

/// All that came back: the answer as it is understood, and what it was before that.
#[derive(Clone, Debug)]
pub struct Whole {
    pub answer: Answer,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub bytes: Vec<u8>,
}
