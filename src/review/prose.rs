//! How a text became another one, word by word.

use similar::{Algorithm, ChangeTag, TextDiff};

/// A piece of a text, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Same(String),
    Goes(String),
    Comes(String),
}

/// Of how many letters one has to be the same for a text to be read as an edit of another.
const ALIKE: usize = 3;
/// What is longer is not compared word by word.
const MOST: usize = 100_000;

/// The words that go and come. `None` where the two have little in common, or are no prose.
pub fn words(old: &str, new: &str) -> Option<Vec<Piece>> {
    let is_prose = |text: &str| text.split_whitespace().nth(1).is_some();
    if !(is_prose(old) && is_prose(new)) || old.len().max(new.len()) > MOST {
        return None;
    }
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_unicode_words(old, new);
    let mut pieces: Vec<Piece> = Vec::new();
    for change in diff.iter_all_changes() {
        let text = change.value();
        match (change.tag(), pieces.last_mut()) {
            (ChangeTag::Equal, Some(Piece::Same(last)))
            | (ChangeTag::Delete, Some(Piece::Goes(last)))
            | (ChangeTag::Insert, Some(Piece::Comes(last))) => last.push_str(text),
            (ChangeTag::Equal, _) => pieces.push(Piece::Same(text.to_owned())),
            (ChangeTag::Delete, _) => pieces.push(Piece::Goes(text.to_owned())),
            (ChangeTag::Insert, _) => pieces.push(Piece::Comes(text.to_owned())),
        }
    }
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let same: usize = pieces.iter().map(|piece| if let Piece::Same(text) = piece { letters(text) } else { 0 }).sum();
    (same * ALIKE >= letters(old).max(letters(new))).then(|| joined(pieces))
}

/// Changes with nothing but a blank between them are one change: it reads as people edit.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let (mut goes, mut comes, mut blank) = (String::new(), String::new(), String::new());
    for piece in pieces {
        match piece {
            Piece::Same(text) if text.trim().is_empty() && !(goes.is_empty() && comes.is_empty()) => {
                blank.push_str(&text)
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

/// Pieces of a long text, with what stays the same shortened to so many characters beside each change.
pub fn around(pieces: Vec<Piece>, context: usize) -> Vec<Piece> {
    let last = pieces.len().saturating_sub(1);
    let shorten = |(number, piece): (usize, Piece)| match piece {
        Piece::Same(text) if text.chars().count() > 2 * context + 1 => {
            let characters: Vec<char> = text.chars().collect();
            let head: String = if number == 0 { String::new() } else { characters[..context].iter().collect() };
            let tail: String =
                if number == last { String::new() } else { characters[characters.len() - context..].iter().collect() };
            Piece::Same(format!("{head}…{tail}"))
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
