//! An audience as a formula over facts, for evaluation on devices.

use std::sync::Arc;

use super::terms::{Join, Term};
use super::{Audience, Fact, Forms};

/// A part of a formula. It refers only to parts before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormulaPart {
    Everyone,
    Nobody,
    Is { fact: Arc<Fact>, not: bool },
    All(Vec<usize>),
    Any(Vec<usize>),
}

impl Audience {
    /// Returns the canonical form as parts, each once. The last one is the audience. Returns `None` if it is too
    /// complex.
    pub fn formula(&self) -> Option<Vec<FormulaPart>> {
        let Forms { terms, root, .. } = self.forms.as_ref()?;
        let needed = terms.within(&[*root]);
        let mut places = vec![0; root + 1];
        let mut parts = Vec::new();
        for id in (0..=*root).filter(|id| needed[*id]) {
            places[id] = parts.len();
            parts.push(match terms.get(id) {
                Term::Everyone => FormulaPart::Everyone,
                Term::Nobody => FormulaPart::Nobody,
                Term::Is { fact, not } => FormulaPart::Is { fact: fact.clone(), not: *not },
                Term::Joined(join, members) => {
                    let members = members.iter().map(|member| places[*member]).collect();
                    if *join == Join::All { FormulaPart::All(members) } else { FormulaPart::Any(members) }
                }
            });
        }
        Some(parts)
    }
}
