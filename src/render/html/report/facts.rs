//! Rows and words, which all forms share, as HTML, with the same facts as in a terminal.

use maud::{Markup, html};

use crate::render::layout::{Paint, Piece, Row, Words};

/// Rows below each other, with labels at the left if there is room.
pub fn rows(rows: &[Row]) -> Markup {
    html! {
        @if !rows.is_empty() {
            dl.facts {
                @for row in rows {
                    div.fact {
                        dt class=[class(row.paint)] { (row.label) }
                        dd { @for words in &row.lines { (line(words)) } }
                    }
                }
            }
        }
    }
}

/// A text on a separate line, aligned according to its direction.
pub fn line(words: &Words) -> Markup {
    let (sign, rest) = words.pieces();
    html! {
        @match sign {
            Some(sign) => div.line.signed {
                span.sign { (piece(sign)) }
                div dir="auto" { @for one in rest { (piece(one)) } }
            },
            None => div.line dir="auto" { @for one in rest { (piece(one)) } },
        }
    }
}

fn piece(piece: &Piece) -> Markup {
    let text = &piece.text;
    match piece.paint {
        Paint::Plain if text.trim() == "->" => html! { " → " },
        _ if piece.copied => html! { code { (text) } },
        Paint::New => html! { ins { (bare(text, "{+", "+}")) } },
        Paint::Old => html! { del { (bare(text, "[-", "-]")) } },
        paint => match class(paint) {
            Some(class) => html! { span class=(class) { (text) } },
            None => html! { (text) },
        },
    }
}

/// A text without the marks that a terminal without colours needs.
fn bare<'t>(text: &'t str, open: &str, close: &str) -> &'t str {
    text.strip_prefix(open).and_then(|text| text.strip_suffix(close)).unwrap_or(text)
}

fn class(paint: Paint) -> Option<&'static str> {
    match paint {
        Paint::Plain => None,
        Paint::Faint => Some("faint"),
        Paint::Strong => Some("strong"),
        Paint::New => Some("new"),
        Paint::Old => Some("old"),
        Paint::Changed => Some("changed"),
        Paint::Asks => Some("asks"),
        Paint::Danger => Some("danger"),
    }
}
