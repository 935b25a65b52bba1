//! How a text from a manifest or a service is written so that it stays in its place, one file per form of output.
//!
//! [`stream`] is for terminals and logs and is in `Out`, the one place that writes, so that no form can forget it. The
//! others are for whoever builds a document: a text goes through the function of its place, exactly once.

pub mod html;
pub mod json;
pub mod markdown;
pub mod stream;
