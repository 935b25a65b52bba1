//! A person who looks at the service and reports truthfully the result of requests in an unknown state.

use std::collections::BTreeSet;

use serde_json::Value;

use super::story::{Ran, World};

impl World {
    /// Resolves the questions of an apply. Returns whether there were any.
    pub fn resolve(&mut self, ran: &Ran) -> bool {
        let text = format!("{}\n{}", ran.stdout, ran.stderr);
        let asked = text.split("pushplan resolve ").skip(1).filter_map(|rest| rest.split_whitespace().next());
        let asked: BTreeSet<String> =
            asked.map(|address| address.trim_matches(|c: char| "`.,:".contains(c)).to_owned()).collect();
        let mut is_resolved = false;
        for address in asked {
            let Some(verdict) = self.verdict(&address) else { continue };
            let arguments: Vec<&str> =
                ["resolve", &address].into_iter().chain(verdict.iter().map(String::as_str)).collect();
            is_resolved |= self.run(&arguments, Vec::new()).code == Some(0);
        }
        is_resolved
    }

    /// The finding of a person: the one object of this thing that the ledger does not know, none, or no answer if there
    /// are several.
    fn verdict(&mut self, address: &str) -> Option<Vec<String>> {
        let thing = self.declared.all_ever().find(|thing| thing.addresses().iter().any(|one| one == address))?.clone();
        let ledger = self.run(&["ledger", "export"], Vec::new());
        let ledger: Value = serde_json::from_str(&ledger.stdout).ok()?;
        let known = ledger["owned"].to_string();
        let objects = self.service.objects().into_iter();
        let mut mine = objects
            .filter(|object| object.kind == thing.kind && object.carries(&thing.mark()) && !known.contains(&object.id));
        let is_sent = thing.kind.is_timed() && self.service.sent().iter().any(|push| push.contains(&thing.mark()));
        match (mine.next(), mine.next()) {
            (Some(object), None) => Some(vec!["--created".to_owned(), object.id]),
            (None, None) if is_sent => Some(vec!["--created".to_owned(), "sent-already".to_owned()]),
            (None, None) => Some(vec!["--absent".to_owned()]),
            _ => None,
        }
    }
}
