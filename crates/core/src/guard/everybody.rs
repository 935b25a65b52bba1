//! Messages that provably reach every device, including the segments in their audience.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::LazyLock;

use pushplan_model::address::Address;
use pushplan_model::audience::{Answer, Audience, everyone};
use pushplan_model::kinds::{self, Remote, Segment};
use pushplan_model::node::{At, Decode, Node, Reader};
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use serde_json::Value;

/// The segments at some time. Each is read when an audience names it.
pub struct Segments<'s> {
    criteria: HashMap<&'s str, Criteria<'s>>,
    /// The keys of segments, by their ids at that time.
    ids: HashMap<&'s str, &'s str>,
}

type Criteria<'s> = LazyLock<Option<At<Selector>>, Box<dyn FnOnce() -> Option<At<Selector>> + Send + 's>>;

impl fmt::Debug for Segments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.criteria.keys()).finish()
    }
}

impl<'s> Segments<'s> {
    /// Creates segments from keys and specs.
    pub fn new<F>(specs: impl IntoIterator<Item = (&'s str, F)>) -> Self
    where
        F: FnOnce() -> Cow<'s, Value> + Send + 's,
    {
        let read = |spec: F| move || audiences(Segment::AUDIENCES, &spec()).into_iter().next();
        let one = |(key, spec)| -> (&'s str, Criteria<'s>) { (key, LazyLock::new(Box::new(read(spec)))) };
        Self { criteria: specs.into_iter().map(one).collect(), ids: HashMap::new() }
    }

    /// Adds the ids of segments, so that audiences can also name segments by id.
    pub fn with_ids(self, ids: impl IntoIterator<Item = (&'s str, &'s str)>) -> Self {
        Self { ids: ids.into_iter().collect(), ..self }
    }

    /// Whether a resource messages people by itself and reaches every device.
    pub(crate) fn messages_everybody(&self, address: &Address, spec: &Value) -> bool {
        let api = kinds::api(address);
        api.runs(spec).is_some() && audiences(api.audiences(), spec).iter().any(|one| self.is_everybody(one))
    }

    fn is_everybody(&self, selector: &Selector) -> bool {
        if selector.members().is_empty() && !matches!(selector, Selector::Segment(_)) {
            return *selector == Selector::All;
        }
        let audience = Audience::of(selector, |reference| self.known(reference).map(|(_, criteria)| &criteria.value));
        matches!(everyone(&audience), Answer::Yes(()))
    }

    /// The keys of the segments that a resource names, directly or through others.
    pub fn followed(&self, address: &Address, spec: &Value) -> BTreeSet<String> {
        let audiences = audiences(kinds::api(address).audiences(), spec);
        let mut open: Vec<&At<Selector>> = audiences.iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(selector) = open.pop() {
            selector.walk(&mut |one| {
                let Selector::Segment(reference) = &one.value else { return };
                if let Some((key, criteria)) = self.known(reference)
                    && seen.insert(key.to_owned())
                {
                    open.push(criteria);
                }
            });
        }
        seen
    }

    /// The key and the criteria of a segment.
    fn known(&self, reference: &SegmentRef) -> Option<(&'s str, &At<Selector>)> {
        let key = match reference {
            SegmentRef::Key(key) => key.as_str(),
            SegmentRef::Id(id) => self.ids.get(id.as_str())?,
        };
        let (key, criteria) = self.criteria.get_key_value(key)?;
        Some((key, criteria.as_ref()?))
    }
}

/// The audiences at some paths of a spec.
fn audiences(places: &[&str], spec: &Value) -> Vec<At<Selector>> {
    let read = |written: &Value| At::decode(&Node::from_json_value(written), &mut Reader::default());
    places.iter().filter_map(|at| spec.pointer(at)).filter_map(read).collect()
}
