//! Escaping of texts from manifests or services, so that they cannot change the document; one file per output form.
//!
//! [`stream`] is for terminals and logs and is used in `Out`, the only place that writes, so that no form can forget
//! it. The others are for building documents: every text goes through the function of its position, exactly once.

pub mod html;
pub mod json;
pub mod markdown;
pub mod stream;
