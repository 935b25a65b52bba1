//! Pairs of removed and added addresses of a page.

/// The maximal number of pairs that are compared.
const MOST: usize = 10_000;
/// The score of two addresses of which half is the same, and what an equal label adds: more than any addresses have in common.
const HALF: usize = 50;
const LABEL: usize = 200;

/// An old and a new address, or only one of them.
pub type Pair<'t> = (Option<&'t str>, Option<&'t str>);

/// Pairs removed and added addresses: first those with the same label, which is the text that a reader sees, then the most
/// similar ones, and only if at least half of both is equal. A single removed and a single added address are always a pair.
pub fn pairs<'t>(goes: &[&'t str], comes: &[&'t str], is_labelled_alike: impl Fn(&str, &str) -> bool) -> Vec<Pair<'t>> {
    let mut partners: Vec<Option<usize>> = vec![None; goes.len()];
    let mut taken = vec![false; comes.len()];
    let mut scored: Vec<(usize, usize, usize)> = Vec::new();
    if goes.len() * comes.len() <= MOST {
        for (from, old) in goes.iter().enumerate() {
            let alike = comes.iter().enumerate().map(|(to, new)| {
                let label = if is_labelled_alike(old, new) { LABEL } else { 0 };
                (label + percent(old, new), from, to)
            });
            scored.extend(alike.filter(|(score, ..)| *score >= HALF || goes.len() == 1 && comes.len() == 1));
        }
    }
    scored.sort_by_key(|(score, from, to)| (std::cmp::Reverse(*score), *from, *to));
    for (_, from, to) in scored {
        if partners[from].is_none() && !taken[to] {
            (partners[from], taken[to]) = (Some(to), true);
        }
    }
    let found = goes.iter().zip(&partners).filter_map(|(old, to)| Some((Some(*old), Some(comes[(*to)?]))));
    let gone = goes.iter().zip(&partners).filter(|(_, to)| to.is_none()).map(|(old, _)| (Some(*old), None));
    let new = comes.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(new, _)| (None, Some(*new)));
    found.chain(gone).chain(new).collect()
}

/// The length of the common prefix and suffix of two texts, in percent of the longer one.
fn percent(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = |(one, other): &(&u8, &u8)| one == other;
    let begin = one.iter().zip(other).take_while(same).count();
    let end = one[begin..].iter().rev().zip(other[begin..].iter().rev()).take_while(same).count();
    100 * (begin + end) / one.len().max(other.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_addresses_are_paired_and_others_stand_alone() {
        let goes = ["https://a.example/help", "https://a.example/sale?x=1", "mailto:me"];
        let comes = ["https://a.example/sale?x=2", "https://b.example/help", "https://c.example/a/long/path/to/terms"];
        let none = |_: &str, _: &str| false;
        assert_eq!(
            pairs(&goes, &comes, none),
            [
                (Some(goes[0]), Some(comes[1])),
                (Some(goes[1]), Some(comes[0])),
                (Some(goes[2]), None),
                (None, Some(comes[2])),
            ]
        );
        assert_eq!(pairs(&["a"], &["https://b"], none), [(Some("a"), Some("https://b"))]);
        assert_eq!(pairs(&["a"], &[], none), [(Some("a"), None)]);
    }

    #[test]
    fn an_equal_label_counts_for_more_than_a_similar_address() {
        let goes = ["https://a.example/sale/1", "https://a.example/sale/2"];
        let comes = ["https://a.example/sale/11", "https://b.example/x"];
        let moved = |old: &str, new: &str| (old, new) == (goes[0], comes[1]);
        assert_eq!(pairs(&goes, &comes, moved), [(Some(goes[0]), Some(comes[1])), (Some(goes[1]), Some(comes[0]))]);
    }
}
