//! The intended resource of an overlay whose key is not declared.

use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::text;

use super::collect::{Declaration, Layer};

/// The number of keys that are compared in the search.
const COMPARISON_LIMIT: usize = 200_000;

/// The search for resources with nearly the same key.
pub struct Meant<'l> {
    base: &'l Layer,
    /// Whether the search is fast enough.
    searches: bool,
}

impl<'l> Meant<'l> {
    /// Creates a search among the resources in the manifests, for this number of keys.
    pub fn new(base: &'l Layer, keys: usize) -> Self {
        Self { base, searches: keys.saturating_mul(base.resources.len()) <= COMPARISON_LIMIT }
    }

    fn near(&self, Declaration { kind, key, .. }: &Declaration) -> Option<&'l str> {
        let alike = self.base.resources.iter().filter(|it| self.searches && it.kind.key == kind.key);
        text::nearest(key, alike.map(|it| it.key.as_str()))
    }

    /// The finding for a resource that is only in an overlay and was probably intended to change another one.
    pub fn another(&self, declaration: &Declaration) -> Option<Finding> {
        let near = self.near(declaration)?;
        let Declaration { kind, key, .. } = declaration;
        let message = format!("no {} `{key}` is declared for this overlay to change", kind.noun);
        let finding = Finding::new(&codes::RF113, key.span, message)
            .label("not declared")
            .note("an overlay may declare a new resource, but this key is almost the key of another resource")
            .help(format!("did you mean `{near}`? If not, add `lifecycle: {{allow: [RF113]}}`"));
        Some(finding.suggest(key.span, near))
    }

    /// The finding for `key: null` in an overlay if there is no such key.
    pub(crate) fn nothing_to_take(&self, declaration: &Declaration) -> Finding {
        let Declaration { kind, key, .. } = declaration;
        let message = format!("no {} `{key}` is declared for this overlay to remove", kind.noun);
        let finding = Finding::new(&codes::RF113, key.span, message).label("not declared");
        match self.near(declaration) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
            None => finding.help("remove the line"),
        }
    }
}
