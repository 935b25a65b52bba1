//! The rows and words that all forms share, as Markdown: additions and removals as a diff block, the rest as a list.

use super::Bounds;
use crate::look::wrap;
use crate::plan::Action;
use crate::render::escape::markdown;
use crate::render::layout::{Paint, Piece, Row, Words};
use crate::text::{count, short};

/// The width of the lines in a block, because code hosts do not wrap them.
const COLUMNS: usize = 100;

/// The side of a line in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineSide {
    Comes,
    Goes,
    Stays,
}

impl LineSide {
    fn sign(self) -> char {
        match self {
            Self::Comes => '+',
            Self::Goes => '-',
            Self::Stays => ' ',
        }
    }

    fn of(paint: Paint) -> Self {
        match paint {
            Paint::New => Self::Comes,
            Paint::Old => Self::Goes,
            _ => Self::Stays,
        }
    }
}

/// Whether a row shows an addition or a removal.
fn differs(row: &Row) -> bool {
    let marked = |piece: &Piece| matches!(piece.paint, Paint::New | Paint::Old);
    let in_line = |words: &Words| {
        let (sign, rest) = words.pieces();
        sign.into_iter().chain(rest).any(marked)
    };
    row.lines.iter().any(in_line)
}

/// Splits rows into those with additions or removals, and the others. A row without a label belongs to the one before
/// it.
pub fn apart(rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
    let mut last = false;
    rows.into_iter().partition(|row| {
        last = differs(row) || own_side(row).is_some() || last && row.label.is_empty();
        last
    })
}

/// The number of lines of a diff and of a list, whichever is larger.
pub fn lines(differences: &[Row], rest: &[Row]) -> usize {
    let mut lines = Vec::new();
    differences.iter().for_each(|row| of_row(row, &mut lines));
    lines.len().max(rest.iter().map(|row| row.lines.len()).sum())
}

/// Rows as a diff block. Empty without rows.
pub fn block(rows: &[Row], bounds: Bounds) -> String {
    let mut lines: Vec<(LineSide, usize, String)> = Vec::new();
    for row in rows {
        of_row(row, &mut lines);
    }
    if lines.is_empty() {
        return String::new();
    }
    let more = lines.len().saturating_sub(bounds.lines);
    let mut out = String::new();
    for (side, indent, text) in lines.iter().take(bounds.lines) {
        let text = short(text, bounds.characters);
        let indent = (*indent).min(COLUMNS / 2);
        for (number, line) in wrap(&text, COLUMNS - indent).into_iter().enumerate() {
            let indent = " ".repeat(if number > 0 { indent + 4 } else { indent });
            out.push_str(format!("{} {indent}{line}", side.sign()).trim_end());
            out.push('\n');
        }
    }
    if more > 0 {
        out.push_str(&format!("  … and {}\n", count(more, "more line")));
    }
    markdown::block("diff", &out)
}

fn of_row(row: &Row, lines: &mut Vec<(LineSide, usize, String)>) {
    let (own, label) = own_side(row).unwrap_or((LineSide::Stays, row.label.trim()));
    let labelled = |text: String| match (label.is_empty(), text.is_empty()) {
        (true, _) => text,
        (false, true) => label.to_owned(),
        (false, false) => format!("{label}: {text}"),
    };
    match row.lines.as_slice() {
        [] => lines.push((own, 0, labelled(String::new()))),
        [one] if one.pieces().0.is_none() => {
            let sides = sides(one.pieces().1);
            // The text of a row that is added or removed as a whole may have no marks.
            let side = |side| if side == LineSide::Stays { own } else { side };
            lines.extend(sides.into_iter().map(|(of, text)| (side(of), 0, labelled(text))));
        }
        [first, ..] => {
            if !label.is_empty() {
                lines.push((LineSide::Stays, 0, format!("{label}:")));
            }
            let signed = first.pieces().0.is_some();
            row.lines.iter().for_each(|words| lines.extend(beneath(words, signed)));
        }
    }
}

/// The side that a label itself begins with, as that of a part does: `+ ios_channels/c-1`.
fn own_side(row: &Row) -> Option<(LineSide, &str)> {
    let label = row.label.trim();
    let of = |action: Action| label.strip_prefix(action.symbol()).and_then(|rest| rest.strip_prefix(' '));
    let own = [(Action::Create, LineSide::Comes), (Action::Delete, LineSide::Goes), (Action::Update, LineSide::Stays)];
    // The name of a field, which has a faint colour, may begin with any sign.
    own.into_iter().filter(|_| row.paint != Paint::Faint).find_map(|(action, side)| Some((side, of(action)?)))
}

/// A line below a label. If lines are `signed`, the sign gives first the side and then the indent.
fn beneath(words: &Words, signed: bool) -> Vec<(LineSide, usize, String)> {
    const INDENT: usize = 2;
    let (sign, rest) = words.pieces();
    let Some(sign) = sign else {
        return sides(rest).into_iter().map(|(side, text)| (side, INDENT, text)).collect();
    };
    let text: String = rest.iter().map(|piece| piece.text.as_str()).collect();
    let blank = sign.text.trim().is_empty();
    let (indent, before) = match sign.text.trim() {
        "+" | "-" | "" if signed => (sign.text.chars().count().saturating_sub(2), ""),
        "" => (sign.text.chars().count(), ""),
        other => (0, other),
    };
    let gap = if blank || before.is_empty() { "" } else { " " };
    vec![(LineSide::of(sign.paint), INDENT + indent, format!("{before}{gap}{text}"))]
}

/// The old and the new text, each on its line; one line if the text is unchanged.
fn sides(pieces: &[Piece]) -> Vec<(LineSide, String)> {
    let has = |paint| pieces.iter().any(|piece| piece.paint == paint);
    let edited = pieces.iter().any(|piece| match piece.paint {
        Paint::New => piece.text.starts_with("{+"),
        Paint::Old => piece.text.starts_with("[-"),
        _ => false,
    });
    let without = |paint| -> String {
        let kept =
            pieces.iter().filter(|piece| piece.paint != paint && (edited || !matches!(piece.text.trim(), "->" | "→")));
        kept.map(|piece| piece.text.as_str()).collect()
    };
    match (has(Paint::Old), has(Paint::New)) {
        (true, true) => vec![(LineSide::Goes, without(Paint::New)), (LineSide::Comes, without(Paint::Old))],
        (true, false) | (false, true) if edited => {
            vec![(LineSide::Goes, without(Paint::New)), (LineSide::Comes, without(Paint::Old))]
        }
        (old, new) => {
            let side = if new { LineSide::Comes } else { LineSide::of(if old { Paint::Old } else { Paint::Plain }) };
            vec![(side, pieces.iter().map(|piece| piece.text.as_str()).collect())]
        }
    }
}

/// Rows as a list, each with its label; the lines after its first one are a nested list.
pub fn list(rows: &[Row], bounds: Bounds) -> String {
    let mut out = String::new();
    let mut left = bounds.lines;
    for row in rows {
        let label = if row.label.is_empty() { String::new() } else { format!("**{}**", markdown::text(&row.label)) };
        let mut told: Vec<String> = row.lines.iter().take(left).map(|words| line(words, bounds.characters)).collect();
        left -= told.len();
        let more = row.lines.len() - told.len();
        // If the lines have signs, all of them are nested, including the first.
        if row.lines.len() > 1 && row.lines[0].pieces().0.is_some() {
            told.insert(0, String::new());
        }
        out.push_str(&item(&label, &told));
        if more > 0 {
            out.push_str(&format!("  - … and {}\n", count(more, "more line")));
        }
    }
    out
}

/// An item of a list: its label and the first line, with the others nested. A line may have the number that it begins
/// with.
pub fn item(label: &str, lines: &[String]) -> String {
    let is_numbered = |line: &str| line.starts_with(|c: char| c.is_ascii_digit()) && number(line).is_some();
    let (first, rest) = match lines.split_first() {
        Some((first, rest)) if !is_numbered(first) => (first.as_str(), rest),
        _ => ("", lines),
    };
    let gap = if label.is_empty() { "" } else { " " };
    let mut out = format!("- {label}{gap}{first}").trim_end().to_owned();
    out.push('\n');
    for line in rest {
        let sign = if is_numbered(line) { "" } else { "- " };
        out.push_str(&format!("  {sign}{line}\n"));
    }
    out
}

/// The number that pushplan gave an item. Numbers in data do not match, because their dot is escaped.
fn number(line: &str) -> Option<&str> {
    let (number, _) = line.split_once(". ")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// A line of a list: numbered if its sign is a number. Another sign belongs to the name after it.
pub fn line(words: &Words, characters: usize) -> String {
    let (sign, rest) = words.pieces();
    let sign = sign.map(|sign| sign.text.trim_start_matches(['├', '└', '─', ' ']).trim()).unwrap_or_default();
    let digits = sign.bytes().take_while(u8::is_ascii_digit).count();
    let (number, sign) = sign.split_at(digits);
    let number = if number.is_empty() { String::new() } else { format!("{number}. ") };
    let sign = sign.trim_start_matches('.').trim();
    let mut pieces = rest.to_vec();
    match pieces.first_mut().filter(|_| !sign.is_empty()) {
        Some(name) if name.paint == Paint::Strong => {
            *name = Piece { text: format!("{sign} {}", name.text), copied: true, ..name.clone() };
        }
        _ if sign.is_empty() => {}
        _ => pieces.insert(0, Piece { text: format!("{sign} "), paint: Paint::Plain, whole: false, copied: false }),
    }
    // The conditions of an audience that is shown by its name.
    if let Some(first) = pieces.first_mut().filter(|first| first.paint == Paint::Faint && first.text.starts_with("= "))
    {
        first.text = format!("that is: {}", &first.text[2..]);
    }
    format!("{number}{}", of_pieces(&pieces, characters))
}

/// A text within a line. Texts that are meant to be copied become code.
pub fn inline(words: &Words, characters: usize) -> String {
    let (sign, rest) = words.pieces();
    of_pieces(&sign.into_iter().chain(rest).cloned().collect::<Vec<_>>(), characters)
}

fn of_pieces(pieces: &[Piece], characters: usize) -> String {
    let mut parts: Vec<(String, bool)> = Vec::new();
    for piece in pieces {
        let copied = piece.copied;
        // Gaps of the terminal form become commas.
        let text = match piece.text.as_str() {
            "   " => ", ".to_owned(),
            text => text.to_owned(),
        };
        match parts.last_mut().filter(|(_, before)| !before && !copied) {
            Some((last, _)) => last.push_str(&text),
            None => parts.push((text, copied)),
        }
    }
    let mut out = String::new();
    let last = parts.len().saturating_sub(1);
    for (number, (text, copied)) in parts.into_iter().enumerate() {
        if copied {
            out.push_str(&markdown::code(&short(&text, characters.max(400))));
            continue;
        }
        // Other gaps only align the columns of a terminal.
        let words = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let words = words.trim_start_matches("└─ ");
        if text.starts_with(' ') && !out.is_empty() {
            out.push(' ');
        }
        // After code, a closing bracket needs no escape.
        let words = match words.strip_prefix(')').filter(|_| out.ends_with('`')) {
            Some(rest) => {
                out.push_str(if rest.starts_with(' ') { ") " } else { ")" });
                rest.trim_start()
            }
            None => words,
        };
        // A colon before a text to copy or at the end closes a sentence, unless it could end the name of an emoji.
        let is_end = |words: &&str| !words.rsplit(' ').next().is_some_and(|word| word.contains(':'));
        let colon = words.strip_suffix(':').filter(|_| text.ends_with(": ") || number == last);
        let (words, end) = match colon.filter(is_end) {
            Some(words) => (words, ": "),
            None => (words, if text.ends_with(' ') && !words.is_empty() { " " } else { "" }),
        };
        out.push_str(&markdown::text(&short(words, characters)));
        out.push_str(end);
    }
    out.trim_end().to_owned()
}
