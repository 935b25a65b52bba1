use super::{Audience, Parts, Resource, Role};
use crate::model::audience::Selector;
use crate::node::{At, shape};

shape! {
    /// A stored audience that others can name.
    pub struct Segment as "a segment" {
        /// The name in the dashboard. The key where it is left out.
        display_name: Option<At<String>>,
        /// Who is in it.
        criteria: At<Selector>,
    }
}

impl Resource for Segment {
    const KEY: &'static str = "segments";
    const NOUN: &'static str = "segment";
    const PURPOSE: &'static str = "A stored audience that pushes and other segments can name.";

    fn settle(&mut self, key: &At<String>) {
        self.display_name.get_or_insert_with(|| key.clone());
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { display_name: _, criteria } = self;
        parts.audiences.push(Audience { selector: criteria, devices: None, role: Role::Criteria });
    }
}
