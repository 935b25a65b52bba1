//! Differences between two texts, word by word.

use similar::{Algorithm, DiffOp, DiffableStr, capture_diff_slices};
use unicode_width::UnicodeWidthChar;

/// A piece of a text: unchanged, removed or added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Same(String),
    Goes(String),
    Comes(String),
}

/// A text counts as an edit of another if one letter in this number is unchanged.
const ALIKE: usize = 3;
/// The maximal number of pairs of words that are compared.
const CELLS: usize = 250_000;
/// The maximal length of a text that is compared word by word.
const MOST: usize = 100_000;

/// The removed and added words of a text, without the unchanged ones.
pub fn edit(old: Option<&str>, new: Option<&str>) -> String {
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    match words(old, new) {
        Some(pieces) => {
            let moved = pieces.iter().filter_map(|piece| match piece {
                Piece::Same(_) => None,
                Piece::Goes(text) => Some(format!("-{text}")),
                Piece::Comes(text) => Some(format!("+{text}")),
            });
            moved.collect::<Vec<_>>().join("|")
        }
        None => format!("-{old}|+{new}"),
    }
}

/// The difference of two texts. `None` if they have little in common, or are no prose.
pub fn words(old: &str, new: &str) -> Option<Vec<Piece>> {
    if !(is_prose(old) && is_prose(new)) || old.len().max(new.len()) > MOST {
        return None;
    }
    let (was, is) = (old.tokenize_unicode_words(), new.tokenize_unicode_words());
    let mut pieces: Vec<Piece> = Vec::new();
    let mut add = |text: &str, piece: fn(String) -> Piece| match (pieces.last_mut(), piece(String::new())) {
        (Some(Piece::Same(last)), Piece::Same(_))
        | (Some(Piece::Goes(last)), Piece::Goes(_))
        | (Some(Piece::Comes(last)), Piece::Comes(_)) => last.push_str(text),
        _ => pieces.push(piece(text.to_owned())),
    };
    let (mut before, mut after) = (0, 0);
    for (from, to) in kept(&was, &is).into_iter().chain([(was.len(), is.len())]) {
        was[before..from].iter().for_each(|word| add(word, Piece::Goes));
        is[after..to].iter().for_each(|word| add(word, Piece::Comes));
        was.get(from).into_iter().for_each(|word| add(word, Piece::Same));
        (before, after) = (from + 1, to + 1);
    }
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let same: usize = pieces.iter().map(|piece| if let Piece::Same(text) = piece { letters(text) } else { 0 }).sum();
    (same * ALIKE >= letters(old).max(letters(new))).then(|| joined(pieces))
}

/// Whether a text has several words. Chinese and Japanese are written without spaces.
fn is_prose(text: &str) -> bool {
    let unspaced = |c: &char| c.is_alphabetic() && c.width() == Some(2);
    text.split_whitespace().nth(1).is_some() || text.chars().filter(unspaced).nth(3).is_some()
}

/// The positions of the unchanged words in both texts: of all choices, the one with the most letters. So a phrase stays
/// together, while the choice with the most words would pick small ones out of it.
fn kept(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (rows, columns) = (old_rest.len() - end, new_rest.len() - end);
    let mut kept: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    if rows * columns <= CELLS {
        let mut best = vec![0u32; (rows + 1) * (columns + 1)];
        let cell = |row: usize, column: usize| row * (columns + 1) + column;
        // A blank weighs less than a letter, but more than nothing.
        let weight = |word: &str| if word.trim().is_empty() { 1 } else { 4 * u32::try_from(word.len()).unwrap_or(1) };
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                let without = best[cell(row + 1, column)].max(best[cell(row, column + 1)]);
                let with = match old_rest[row] == new_rest[column] {
                    true => best[cell(row + 1, column + 1)] + weight(old_rest[row]),
                    false => 0,
                };
                best[cell(row, column)] = with.max(without);
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < rows && column < columns {
            let here = best[cell(row, column)];
            if here == best[cell(row + 1, column)] {
                row += 1;
            } else if here == best[cell(row, column + 1)] {
                column += 1;
            } else {
                kept.push((start + row, start + column));
                (row, column) = (row + 1, column + 1);
            }
        }
    } else {
        for op in capture_diff_slices(Algorithm::Patience, &old_rest[..rows], &new_rest[..columns]) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                kept.extend((0..len).map(|at| (start + old_index + at, start + new_index + at)));
            }
        }
    }
    kept.extend((0..end).map(|at| (start + rows + at, start + columns + at)));
    kept
}

/// Joins changes that are separated only by a blank: this is easier to read.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let (mut goes, mut comes, mut blank) = (String::new(), String::new(), String::new());
    for piece in pieces {
        match piece {
            Piece::Same(text) if text.trim().is_empty() && !(goes.is_empty() && comes.is_empty()) => {
                blank.push_str(&text);
            }
            Piece::Same(text) => {
                flush(&mut out, &mut goes, &mut comes);
                let text = std::mem::take(&mut blank) + &text;
                out.push(Piece::Same(text));
            }
            Piece::Goes(text) => {
                settle(&mut blank, &mut goes, &mut comes);
                goes.push_str(&text);
            }
            Piece::Comes(text) => {
                settle(&mut blank, &mut goes, &mut comes);
                comes.push_str(&text);
            }
        }
    }
    flush(&mut out, &mut goes, &mut comes);
    if !blank.is_empty() {
        out.push(Piece::Same(blank));
    }
    out
}

/// A blank between two changes belongs to both sides.
fn settle(blank: &mut String, goes: &mut String, comes: &mut String) {
    let blank = std::mem::take(blank);
    goes.push_str(&blank);
    comes.push_str(&blank);
}

fn flush(out: &mut Vec<Piece>, goes: &mut String, comes: &mut String) {
    for (text, piece) in [(goes, Piece::Goes as fn(String) -> Piece), (comes, Piece::Comes)] {
        if !text.is_empty() {
            out.push(piece(std::mem::take(text)));
        }
    }
}

/// Shortens unchanged pieces of a long text to this number of characters next to each change, at word boundaries if
/// possible.
pub fn around(pieces: Vec<Piece>, context: usize) -> Vec<Piece> {
    let last = pieces.len().saturating_sub(1);
    let shorten = |(number, piece): (usize, Piece)| match piece {
        Piece::Same(text) if text.chars().count() > 2 * context + 1 => {
            let characters: Vec<char> = text.chars().collect();
            let (head, rest) = characters.split_at(context);
            let (before, tail) = characters.split_at(characters.len() - context);
            let is_blank = |c: &char| c.is_whitespace();
            let head = match head.iter().rposition(is_blank) {
                Some(blank) if !rest.first().is_some_and(is_blank) => &head[..blank],
                _ => head,
            };
            let tail = match tail.iter().position(is_blank) {
                Some(blank) if !before.last().is_some_and(is_blank) => &tail[blank + 1..],
                _ => tail,
            };
            let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
            Piece::Same(match number {
                0 => format!("…{tail}"),
                _ if number == last => format!("{} …", head.trim_end()),
                _ => format!("{} … {}", head.trim_end(), tail.trim_start()),
            })
        }
        piece => piece,
    };
    pieces.into_iter().enumerate().map(shorten).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(old: &str, new: &str) -> String {
        let Some(pieces) = words(old, new) else { return "other".to_owned() };
        pieces
            .iter()
            .map(|piece| match piece {
                Piece::Same(text) => text.clone(),
                Piece::Goes(text) => format!("[-{text}-]"),
                Piece::Comes(text) => format!("{{+{text}+}}"),
            })
            .collect()
    }

    #[test]
    fn words_that_go_and_come_are_marked_where_they_stand() {
        for (old, new, shown) in [
            (
                "Hi {{NAME}}, we miss you. Come back and save 10% this week.",
                "Hi {{NAME}}, we miss you. Come back this week and take 20% off.",
                "Hi {{NAME}}, we miss you. Come back [-and save 10% -]this week{+ and take 20% off+}.",
            ),
            ("Your order is on its way.", "Your order is on its way 🎉", "Your order is on its way[-.-]{+ 🎉+}"),
            ("one two three", "uno dos tres", "other"),
            ("sale", "winter sale", "other"),
            ("全场八折，只限今天", "全场七折，只限今天", "全场[-八-]{+七+}折，只限今天"),
            ("save 10% now, all of you", "save 20% now, all of you", "save [-10-]{+20+}% now, all of you"),
        ] {
            assert_eq!(told(old, new), shown);
        }
    }

    #[test]
    fn long_texts_are_shown_around_their_changes() {
        let long = "word ".repeat(100);
        let pieces = words(&format!("{long}old end of it"), &format!("{long}new end of it")).expect("an edit");
        let shown = around(pieces, 10);
        assert_eq!(shown[0], Piece::Same("…word word ".to_owned()));
        let text =
            |first: &str, second: &str| format!("It {first} {}{second} {}", "begin ".repeat(9), "end ".repeat(9));
        let pieces = words(&text("was", "then"), &text("is", "now")).expect("an edit");
        let same: Vec<Piece> = around(pieces, 10).into_iter().filter(|it| matches!(it, Piece::Same(_))).collect();
        let expected = ["It ", " begin … begin ", " end end …"].map(|text| Piece::Same(text.to_owned()));
        assert_eq!(same, expected);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_the_pieces(old in "[ab .é]{0,30}", new in "[ab .é]{0,30}") {
            if let Some(pieces) = words(&old, &new) {
                let side = |skip: fn(&Piece) -> bool| -> String {
                    pieces.iter().filter(|piece| !skip(piece)).map(|piece| match piece {
                        Piece::Same(text) | Piece::Goes(text) | Piece::Comes(text) => text.as_str(),
                    }).collect()
                };
                prop_assert_eq!(side(|piece| matches!(piece, Piece::Comes(_))), old);
                prop_assert_eq!(side(|piece| matches!(piece, Piece::Goes(_))), new);
            }
        }
    }
}
