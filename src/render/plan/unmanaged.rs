//! The end of a plan: unmanaged resources of the service.

use super::PlanView;
use crate::kinds::{self, KINDS};
use crate::plan::Unmanaged;
use crate::render::layout::Words;
use crate::text::{all_of, count, many};

/// The number of unmanaged resources by kind, and the kinds that could not be listed. `None` if there are neither.
pub fn words(view: &PlanView) -> Option<Words> {
    let told = &view.plan.told;
    let counted = KINDS.iter().filter_map(|kind| Some((kind.noun, told.unmanaged.get(kind.key)?)));
    let counts: Vec<String> = counted.map(|(noun, number)| counted_as(*number, noun)).collect();
    let known = (!counts.is_empty()).then(|| {
        let words = Words::new(&format!("Not in git: {}; ", counts.join(", ")));
        let total: usize = told.unmanaged.values().map(|counted| counted.number).sum();
        let them = if total == 1 { "it" } else { "them" };
        words.copy(&view.again.other("unmanaged")).and(&format!(" lists {them}."))
    });
    match (known, unlisted(view)) {
        (Some(known), Some(unlisted)) => Some(known.and(&format!(" {unlisted}"))),
        (known, unlisted) => known.or_else(|| unlisted.map(|words| Words::new(&words))),
    }
}

/// `12 segments`, `100 legacy tags or more`.
pub(crate) fn counted_as(counted: Unmanaged, noun: &str) -> String {
    let Unmanaged { number, or_more } = counted;
    format!("{}{}", count(number, noun), if or_more { " or more" } else { "" })
}

/// The kinds that could not be listed, with the reason. Their unmanaged resources may send messages or be sent.
pub fn unlisted(view: &PlanView) -> Option<String> {
    let all = &view.plan.told.unlisted;
    let (_, why) = all.first_key_value()?;
    let noun = |key: &String| many(kinds::kind(key).map_or(key.as_str(), |kind| kind.noun));
    let nouns: Vec<String> = all.keys().map(noun).collect();
    Some(format!("The unmanaged {} are unknown: {why}.", all_of(&nouns)))
}
