//! The part of an audience that gets each localization of a message.

use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::nouns::localization::Localization;
use pushplan_model::nouns::vocabulary::by_shorthand;
use pushplan_model::source::Span;

/// A language and a country, each if a locale has it.
type Codes = [Option<String>; 2];

/// The localizations of a message: the name of each locale, and a condition for the devices that get it. The most specific one that
/// matches a device is sent.
pub(super) fn conditions(localizations: &[At<Localization>]) -> Vec<(String, Selector)> {
    let codes =
        |own: &Localization| [&own.language, &own.country].map(|code| code.as_ref().map(|code| code.value.clone()));
    let all: Vec<Codes> = localizations.iter().map(|own| codes(own)).filter(|codes| *codes != [None, None]).collect();
    let name = |codes: &Codes| codes.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("-");
    all.iter().filter_map(|own| Some((name(own), condition(own, &all)?))).collect()
}

/// The condition for one of several locales: it matches, and no more specific one does.
fn condition(own: &Codes, all: &[Codes]) -> Option<Selector> {
    let others = match own {
        [Some(_), Some(_)] => Vec::new(),
        [Some(language), None] => {
            let within = |other: &&Codes| other[0].as_ref() == Some(language) && other[1].is_some();
            all.iter().filter(within).filter_map(|other| has("country", other[1].as_ref()?)).collect()
        }
        // A language is more specific than a country.
        [None, Some(country)] => {
            let matches = |other: &&Codes| other[0].is_some() && other[1].as_ref().is_none_or(|other| other == country);
            all.iter().filter(matches).filter_map(|other| has("language", other[0].as_ref()?)).collect()
        }
        [None, None] => return None,
    };
    let mut members: Vec<Selector> = Vec::new();
    for (group, code) in ["language", "country"].into_iter().zip(own) {
        if let Some(code) = code {
            members.push(has(group, code)?);
        }
    }
    members.extend(others.into_iter().map(|other| Selector::Not(Box::new(nowhere(other)))));
    Some(Selector::And(members.into_iter().map(nowhere).collect()))
}

/// A device with a property that the service derives.
fn has(shorthand: &str, code: &str) -> Option<Selector> {
    let group = nowhere(by_shorthand(shorthand)?.id.to_owned());
    Some(Selector::Tag(Tag { tag: nowhere(code.to_owned()), group: Some(group) }))
}

/// A selector and a condition.
pub(super) fn both(selector: &Selector, condition: Selector) -> Selector {
    Selector::And(vec![nowhere(selector.clone()), nowhere(condition)])
}

fn nowhere<T>(value: T) -> At<T> {
    At::new(value, Span::NONE)
}

#[cfg(test)]
mod tests {
    use pushplan_model::nouns::localization::most_specific;

    use super::*;

    /// Whether a device with these codes has the property of a tag.
    fn matches(selector: &Selector, device: [&str; 2]) -> bool {
        match selector {
            Selector::And(members) => members.iter().all(|member| matches(member, device)),
            Selector::Not(member) => !matches(member, device),
            Selector::Tag(tag) => {
                let language = by_shorthand("language").expect("a group").id;
                device[usize::from(tag.group.as_ref().is_some_and(|group| *group.value != *language))] == tag.tag.value
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_device_is_counted_for_the_localization_that_it_gets() {
        let codes: [Option<&str>; 3] = [None, Some("a"), Some("b")];
        let pairs: Vec<[Option<&str>; 2]> =
            codes.iter().flat_map(|one| codes.map(|other| [*one, other])).skip(1).collect();
        for chosen in 0..1_u32 << pairs.len() {
            let locales: Vec<[Option<&str>; 2]> =
                pairs.iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0).map(|(_, pair)| *pair).collect();
            let owned: Vec<Codes> = locales.iter().map(|codes| codes.map(|code| code.map(str::to_owned))).collect();
            for device in ["a", "b", "c"].into_iter().flat_map(|one| ["a", "b", "c"].map(|other| [one, other])) {
                let expected = most_specific(locales.iter().copied(), device.map(Some));
                let counted: Vec<usize> = (0..owned.len())
                    .filter(|at| matches(&condition(&owned[*at], &owned).expect("a condition"), device))
                    .collect();
                assert_eq!(counted, expected.into_iter().collect::<Vec<_>>(), "{locales:?} {device:?}");
            }
        }
    }
}
