//! The API level of a service.

use crate::node::words;

words! {
    /// What the service of a target offers.
    Level, "\"documented\" or \"extended\"" {
        /// The verbs of the contract alone.
        Documented = "documented",
        /// The verbs that the live service has gained as well.
        Extended = "extended",
    }
}
