//! Positions of texts on lines: rows with labels, paragraphs, and texts at the right end.

use std::borrow::Cow;

use super::{Row, Style, Words, blanks, columns, put};

/// The narrowest and the widest column of labels.
const LABELS: std::ops::RangeInclusive<usize> = 9..=36;

/// The smallest width of a text next to its label; if there is less room, the text goes below.
const BESIDE: usize = 12;

/// Writes rows, with their texts in one column. If a label is too wide, a short text follows it directly, and a long
/// one goes below.
pub fn rows(out: &mut String, rows: &[Row], indent: usize, style: Style) {
    let labels: Vec<Cow<str>> = rows.iter().map(|row| row.label(style)).collect();
    let widest = (style.width * 2 / 5).min(*LABELS.end());
    let fitting = labels.iter().map(|label| columns(label)).filter(|width| *width <= widest);
    let column = fitting.max().unwrap_or_default().max(*LABELS.start());
    let beside = indent + column + 2;
    let narrow = beside + BESIDE > style.width;
    let at = if narrow { indent + 2 } else { beside };
    for (row, label) in rows.iter().zip(&labels) {
        match column.checked_sub(columns(label)).filter(|_| !narrow) {
            Some(room) => {
                blanks(out, indent);
                let start = out.len();
                put(out, label, row.paint, style);
                texts(out, row, (start, room + 2), at, style);
            }
            None => wide(out, row, label, (indent, at), style),
        }
    }
}

/// Writes the texts of a row: the first after its label and a gap, the others below it.
fn texts(out: &mut String, row: &Row, (mut start, gap): (usize, usize), at: usize, style: Style) {
    let width = style.width.saturating_sub(at);
    let mut begun = false;
    let mut next = |out: &mut String| match std::mem::replace(&mut begun, true) {
        false => blanks(out, gap),
        true => {
            end_line(out, start);
            start = out.len();
            blanks(out, at);
        }
    };
    for words in &row.lines {
        if words.is_one_line(width, style) {
            next(out);
            words.pieces.iter().for_each(|piece| out.push_str(&piece.text));
            continue;
        }
        for line in words.lines(width, style) {
            next(out);
            out.push_str(&line);
        }
    }
    end_line(out, start);
}

/// A row whose label is too wide for its column.
fn wide(out: &mut String, row: &Row, label: &str, (indent, at): (usize, usize), style: Style) {
    let width = style.width.saturating_sub(at);
    let mut lines: Vec<String> = row.lines.iter().flat_map(|words| words.lines(width, style)).collect();
    let wanted = columns(label);
    let beside = lines.len() == 1 && indent + wanted + 2 + row.lines[0].in_style(style).columns() <= style.width;
    if !beside && wanted + indent > style.width {
        paragraph(out, &Words::default().paint(label, row.paint), indent, style);
    } else {
        blanks(out, indent);
        let start = out.len();
        put(out, label, row.paint, style);
        if beside {
            blanks(out, 2);
            out.push_str(&lines.remove(0));
        }
        end_line(out, start);
    }
    for line in lines {
        let start = out.len();
        blanks(out, at);
        out.push_str(&line);
        end_line(out, start);
    }
}

/// A paragraph.
pub fn paragraph(out: &mut String, words: &Words, indent: usize, style: Style) {
    for line in words.lines(style.width.saturating_sub(indent), style) {
        blanks(out, indent);
        out.push_str(&line);
        out.push('\n');
    }
}

/// Writes a line with a text at its right end, or below it if both do not fit.
pub fn head(out: &mut String, left: &Words, right: &Words, style: Style) {
    // On a very wide terminal the two texts would be too far apart to be read as one line.
    const WIDEST: usize = 100;
    let width = style.width.min(WIDEST);
    let (left, right) = (&*left.in_style(style), &*right.in_style(style));
    let (plain, wanted) = (left.columns(), right.columns());
    let text = |out: &mut String, words: &Words| match words.is_one_line(width, style) {
        true => {
            let start = out.len();
            words.pieces.iter().for_each(|piece| out.push_str(&piece.text));
            out.truncate(start + out[start..].trim_end().len());
        }
        false => out.push_str(&words.lines(usize::MAX / 2, style).join(" ")),
    };
    if wanted == 0 || plain + 2 + wanted > width {
        paragraph(out, left, 0, style);
        if wanted > 0 {
            paragraph(out, right, 4, style);
        }
        return;
    }
    text(out, left);
    blanks(out, width - plain - wanted);
    text(out, right);
    out.push('\n');
}

/// Ends the line that began at `start`, without trailing white space.
fn end_line(out: &mut String, start: usize) {
    out.truncate(start + out[start..].trim_end().len());
    out.push('\n');
}
