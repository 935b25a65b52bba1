//! The words of an audience are unambiguous: a parser that knows only the notation reads the same audience from them.

use proptest::prelude::*;
use pushplan::audience::{self, Audience, Relation};
use pushplan::nouns::audience::Selector;

use super::world::{all, any, grouped, not, tag};

fn selector() -> impl Strategy<Value = Selector> {
    let tags = prop::sample::select(vec!["a", "b", "c"]);
    let leaf = prop_oneof![
        1 => Just(Selector::All),
        8 => tags.prop_map(tag),
        8 => prop::sample::select(vec!["buyer", "lapsed"]).prop_map(|tag| grouped("lifecycle", tag)),
        8 => prop::sample::select(vec!["CA", "US"]).prop_map(|country| grouped("ua_locale_country", country)),
        4 => prop::sample::select(vec!["true", "false"]).prop_map(|flag| grouped("ua_opt_in", flag)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 0..5).prop_map(all),
            4 => prop::collection::vec(inner.clone(), 0..5).prop_map(any),
            2 => inner.prop_map(not),
        ]
    })
}

/// Splits a text at the separators outside parentheses.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= from && text[at..].starts_with(separator) => {
                parts.push(&text[from..at]);
                from = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// A whole audience.
fn read(text: &str) -> Selector {
    if let Some(excluded) = text.strip_prefix("everyone except ") {
        return not(condition(excluded));
    }
    let conditions = split(text, "; ");
    all(conditions.into_iter().map(condition).collect())
}

/// A condition between semicolons or in parentheses.
fn condition(text: &str) -> Selector {
    let (ands, ors) = (split(text, " and "), split(text, " or "));
    assert!(ands.len() == 1 || ors.len() == 1, "`and` beside `or`: {text}");
    let (pieces, join): (_, fn(Vec<Selector>) -> Selector) = if ands.len() > 1 { (ands, all) } else { (ors, any) };
    if let [piece] = pieces[..] {
        return single(piece);
    }
    // A list of values: only its first has a name.
    let values: Vec<&str> = pieces.iter().flat_map(|piece| split(piece, ", ")).collect();
    let is_value = |value: &&str| ["CA", "US", "buyer", "lapsed"].contains(value);
    if values[1..].iter().any(is_value) {
        assert!(values[1..].iter().all(is_value), "a list beside something else: {text}");
        let (name, first) = values[0].split_once(" = ").expect("a name before the list");
        assert!(!name.starts_with("not "), "a list under `not`: {text}");
        let one = |value: &&str| single(&format!("{name} = {value}"));
        return join([&first].into_iter().chain(&values[1..]).map(one).collect());
    }
    let is_negated = |piece: &&str| piece.starts_with("not ");
    assert!(pieces.is_sorted_by_key(is_negated), "a `not` before something else: {text}");
    join(pieces.into_iter().map(single).collect())
}

fn single(text: &str) -> Selector {
    if let Some(member) = text.strip_prefix("not ") {
        return not(single(member));
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        return condition(inner);
    }
    match text.split_once(" = ") {
        _ if text == "everyone" => Selector::All,
        _ if text == "nobody" => not(Selector::All),
        _ if text == "opted in to notifications" => grouped("ua_opt_in", "true"),
        Some(("lifecycle", tag)) => grouped("lifecycle", tag),
        Some(("country", country)) => grouped("ua_locale_country", country),
        None if text.starts_with("tag ") => tag(&text["tag ".len()..]),
        _ => panic!("not a condition: {text}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_words_of_an_audience_mean_the_audience(selector in selector()) {
        let words = audience::words(&selector);
        if !words.contains("more conditions") {
            let of = |selector: &Selector| Audience::of(selector, |_| None);
            let relation = audience::compare(&of(&selector), &of(&read(&words)));
            prop_assert_eq!(relation, Relation::Same, "{}", words);
        }
    }
}
