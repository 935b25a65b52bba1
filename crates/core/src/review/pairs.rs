//! Addresses of a page that change, each beside the one that takes its place.

/// How many pairs are compared.
const MOST: usize = 10_000;

/// An old and a new address that belong together, or one of them alone.
pub type Pair<'t> = (Option<&'t str>, Option<&'t str>);

/// Pairs what goes with what comes: the most similar first, and only if at least half of both is the same. One that goes and
/// one that comes are always a pair.
pub fn pairs<'t>(goes: &[&'t str], comes: &[&'t str]) -> Vec<Pair<'t>> {
    let mut partners: Vec<Option<usize>> = vec![None; goes.len()];
    let mut taken = vec![false; comes.len()];
    let mut scored: Vec<(usize, usize, usize)> = Vec::new();
    if goes.len() * comes.len() <= MOST {
        for (from, old) in goes.iter().enumerate() {
            let alike = comes.iter().enumerate().map(|(to, new)| (percent(old, new), from, to));
            scored.extend(alike.filter(|(score, ..)| *score >= 50 || goes.len() == 1 && comes.len() == 1));
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

/// How much of two texts is the same at their beginnings and ends, in percent of the longer one.
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
        assert_eq!(
            pairs(&goes, &comes),
            [
                (Some(goes[0]), Some(comes[1])),
                (Some(goes[1]), Some(comes[0])),
                (Some(goes[2]), None),
                (None, Some(comes[2])),
            ]
        );
        assert_eq!(pairs(&["a"], &["https://b"]), [(Some("a"), Some("https://b"))]);
        assert_eq!(pairs(&["a"], &[]), [(Some("a"), None)]);
    }
}
