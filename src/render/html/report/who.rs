//! Who is meant: a sentence, the tree of conditions with what comes and goes, and what that does.

use maud::{Markup, html};

use crate::audience::Relation;
use crate::render::{one_line, visible};
use crate::review::{Mark, Marked, Who};

/// How many lines of a tree are shown.
const LINES: usize = 120;

/// The audiences of a change.
pub fn who(all: &[Who]) -> Markup {
    html! {
        @for who in all {
            section.part.who {
                h4 { "Who is meant" }
                @if let Some(effect) = &who.effect {
                    p.effect {
                        span class=(format!("chip {}", mood(effect))) { (headline(effect)) }
                        " " span dir="auto" { (visible(&rest(effect))) }
                    }
                }
                (tree(&who.tree, who.effect.is_some()))
            }
        }
    }
}

/// Where all of it comes or goes, no line needs a sign.
fn tree(lines: &[Marked], compared: bool) -> Markup {
    html! {
        ul.tree {
            @for Marked { mark, line } in lines.iter().take(LINES) {
                @let mark = if compared { *mark } else { Mark::Same };
                li class=[class(mark)] {
                    @if compared { span.sign aria-hidden="true" { (sign(mark)) } }
                    span.indent style=(format!("--depth:{}", line.depth.min(24))) dir="auto" {
                        @match mark {
                            Mark::Same => (one_line(&line.text)),
                            Mark::Comes => ins { (one_line(&line.text)) },
                            Mark::Goes => del { (one_line(&line.text)) },
                        }
                    }
                }
            }
        }
        @if lines.len() > LINES { p.faint { "and " (lines.len() - LINES) " more lines" } }
    }
}

fn class(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Same => None,
        Mark::Comes => Some("comes"),
        Mark::Goes => Some("goes"),
    }
}

fn sign(mark: Mark) -> &'static str {
    match mark {
        Mark::Same => "",
        Mark::Comes => "+",
        Mark::Goes => "−",
    }
}

/// The word that says it all.
pub fn headline(effect: &Relation) -> String {
    let words = effect.to_string();
    words.split(": ").next().unwrap_or_default().to_owned()
}

fn rest(effect: &Relation) -> String {
    let words = effect.to_string();
    words.split_once(": ").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

fn mood(effect: &Relation) -> &'static str {
    match effect {
        Relation::Same => "calm",
        Relation::Narrower { .. } | Relation::TooComplex => "changed",
        Relation::Broader { .. } | Relation::Disjoint { .. } | Relation::Different { .. } => "asks",
    }
}
