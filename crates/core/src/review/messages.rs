//! The messages that people receive, before and after.

use pushplan_model::kinds::{self, Parts, ReadableText, Spec};
use pushplan_model::node::At;
use pushplan_model::source::Span;
use pushplan_project::look::{self, Appearance, Values};

use super::{Review, Side};
use crate::plan::Change;

/// The name of a sample, and its values.
type Sample<'s> = (&'s str, &'s Values);

impl Review<'_> {
    /// The messages of a change as people see them, with the defaults of their variables, followed by one for each
    /// sample in the manifest.
    pub fn messages(&self, change: &Change, side: Side) -> Vec<Appearance> {
        self.each_message(change, side, &|parts, sample| {
            look::all(&look::spoken(parts), &|at| parts.numbered(at), sample)
        })
    }

    /// The texts of these messages.
    pub fn texts(&self, change: &Change, side: Side) -> Vec<String> {
        let none = Values::new();
        self.each_message(change, side, &|parts, sample| {
            let values = sample.map_or(&none, |(_, values)| values);
            let said = parts.said.iter().flat_map(ReadableText::on_devices);
            said.map(|(_, said)| look::text(&said, values)).collect()
        })
    }

    /// The results of a function for the messages of a change: with defaults, and then with each sample.
    fn each_message<T>(&self, change: &Change, side: Side, made: &dyn Fn(&Parts, Option<Sample>) -> Vec<T>) -> Vec<T> {
        if !kinds::api(&change.address).speaks() {
            return Vec::new();
        }
        let key = At::new(change.address.key.clone(), Span::NONE);
        let all = |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let mut found = made(&parts, None);
            let samples = self.plan.told.of.get(&change.address).into_iter().flat_map(|aside| &aside.previews);
            for (name, values) in samples {
                found.extend(made(&parts, Some((name, values))));
            }
            found
        };
        self.of_resource(change, side, all).unwrap_or_default()
    }
}
