use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many lines a table keeps. More of them are made anew for each listing, so that a large service stays small.
const KEPT: usize = 100_000;

/// The JSON of a thing as it stands in listings, kept from its first listing until it changes: most of the work of a page.
#[derive(Debug, Default)]
pub struct Line(OnceLock<Box<str>>);

/// How many lines of one table are kept.
#[derive(Debug, Default)]
pub struct Lines(AtomicUsize);

impl Lines {
    /// A line, made now if it is not kept.
    pub fn of<'l>(&self, line: &'l Line, write: impl FnOnce() -> String) -> Cow<'l, str> {
        if let Some(text) = line.0.get() {
            return Cow::Borrowed(text);
        }
        let text = write();
        if self.0.load(Ordering::Relaxed) >= KEPT {
            return Cow::Owned(text);
        }
        // Two who list at once may both have made it: one of them is kept, and counted.
        if line.0.set(text.into()).is_ok() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Cow::Borrowed(line.0.get().map_or("", |text| text))
    }

    /// Forgets the line of a thing that changes or goes.
    pub fn forget(&self, line: &mut Line) {
        if line.0.take().is_some() {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
