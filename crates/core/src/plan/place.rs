//! Positions of declarations.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A line of a file. All positions in one file share the text of its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct DeclaredAt {
    pub file: Arc<str>,
    pub line: usize,
}

/// The serialized form of [`DeclaredAt`].
#[derive(Serialize, Deserialize)]
struct Written {
    file: String,
    line: usize,
}

impl From<Written> for DeclaredAt {
    fn from(Written { file, line }: Written) -> Self {
        Self { file: file.into(), line }
    }
}

impl From<DeclaredAt> for Written {
    fn from(DeclaredAt { file, line }: DeclaredAt) -> Self {
        Self { file: file.to_string(), line }
    }
}
