//! What people will read, and what they would read before.

use super::{Review, Side};
use crate::kinds::{Parts, Spec};
use crate::look::{self, Seen};
use crate::node::At;
use crate::plan::Change;
use crate::source::Span;

impl Review<'_> {
    /// The messages of a change as people see them, with defaults for their variables; behind them one for each sample that
    /// its author gave.
    pub fn messages(&self, change: &Change, side: Side) -> Vec<Seen> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        let seen = |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let spoken = look::spoken(&parts);
            let mut found = look::all(&spoken, parts.each, None);
            let samples = self.plan.told.of.get(&change.address).into_iter().flat_map(|aside| &aside.previews);
            for (name, values) in samples {
                found.extend(look::all(&spoken, parts.each, Some((name, values))));
            }
            found
        };
        self.of_resource(change, side, seen).unwrap_or_default()
    }
}
