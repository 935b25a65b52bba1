use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of cached lines of a table. Others are created for each list, so that a large service stays
/// small.
const KEPT: usize = 100_000;

/// The JSON of an item in lists. It is cached from its first use until the item changes, because it is most of the work
/// of a page.
#[derive(Debug, Default)]
pub struct Line(OnceLock<Box<str>>);

/// The number of cached lines of one table.
#[derive(Debug, Default)]
pub struct Lines(AtomicUsize);

impl Lines {
    /// Returns a line, and creates it if it is not cached.
    pub fn of<'l>(&self, line: &'l Line, write: impl FnOnce() -> String) -> Cow<'l, str> {
        if let Some(text) = line.0.get() {
            return Cow::Borrowed(text);
        }
        let text = write();
        if self.0.load(Ordering::Relaxed) >= KEPT {
            return Cow::Owned(text);
        }
        // Two concurrent lists may both have created it: one of them is cached, and counted.
        if line.0.set(text.into()).is_ok() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Cow::Borrowed(line.0.get().map_or("", |text| text))
    }

    /// Removes the cached line of an item that changes or is deleted.
    pub fn forget(&self, line: &mut Line) {
        if line.0.take().is_some() {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
