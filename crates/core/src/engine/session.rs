//! The state of a process rather than of one call: the output for notes, and its knowledge of other runs.

use std::fmt;
use std::sync::Arc;

use super::turn::Watched;

/// Receives the notes of a call while it runs.
pub trait Notes: Send + Sync {
    /// Receives a sentence for users.
    fn note(&self, words: &str);

    /// Receives bytes that must not be changed.
    fn line(&self, bytes: &[u8]);
}

/// The output for notes of a process, and its knowledge of other runs.
#[derive(Clone)]
pub struct Session {
    notes: Arc<dyn Notes>,
    pub watched: Watched,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("watched", &self.watched).finish_non_exhaustive()
    }
}

struct Silent;

impl Notes for Silent {
    fn note(&self, _: &str) {}

    fn line(&self, _: &[u8]) {}
}

impl Default for Session {
    /// A session that drops all notes.
    fn default() -> Self {
        Self::new(Arc::new(Silent))
    }
}

impl Session {
    pub fn new(notes: Arc<dyn Notes>) -> Self {
        Self { notes, watched: Watched::default() }
    }

    pub fn note(&self, words: &str) {
        self.notes.note(words);
    }

    pub fn line(&self, bytes: &[u8]) {
        self.notes.line(bytes);
    }
}
