//! An audience: a sentence, the tree of conditions with additions and removals, and the effect.

use maud::{Markup, html};

use crate::audience::Relation;
use crate::kinds;
use crate::plan::{Action, Change};
use crate::render::one_line;
use crate::review::{Mark, Marked, Who};

/// The number of lines of a tree that are shown.
const LINES: usize = 120;

/// The audiences of a change, where it is about them.
pub fn who(change: &Change, all: &[Who]) -> Markup {
    let is_kept = matches!(change.action, Action::Adopt | Action::Forget | Action::Keep | Action::Past);
    html! {
        @for who in all.iter().filter(|who| !is_kept && is_told(change, who)) {
            section.part.who {
                h4 { "Audience" }
                (effect(who))
                (tree(&who.tree, is_edited(who)))
                @if let Some(meaning) = &who.meaning { p.meaning dir="auto" { "that is: " (one_line(meaning)) } }
                @if let Some(last) = &who.last_applied {
                    p.meaning { span.asks { "last applied: " bdi { (one_line(last)) } "; the service was edited" } }
                }
            }
        }
    }
}

fn is_edited(who: &Who) -> bool {
    who.effect.is_some() && who.tree.iter().any(|line| line.mark != Mark::Same)
}

/// Whether to show an audience: a resource that sends nothing itself and still reaches the same people is changed for
/// another reason.
fn is_told(change: &Change, who: &Who) -> bool {
    let spec = change.desired.as_ref().or(change.live.as_ref()).or(change.ledger.as_ref());
    let messages = spec.is_some_and(|spec| kinds::api(&change.address).runs(spec).is_some());
    messages || is_edited(who) || !matches!(who.effect, Some(Relation::Same))
}

/// What was changed on the service comes back: its effect is the other way round.
fn effect(who: &Who) -> Markup {
    let is_same = |effect: &&Relation| **effect == Relation::Same && !is_edited(who);
    html! {
        @if let Some(effect) = who.effect.as_ref().filter(|effect| !is_same(effect)) {
            p.effect {
                span class=(format!("chip {}", mood(effect))) { (headline(effect)) }
                " " span dir="auto" { (one_line(&rest(effect))) }
                @if !is_edited(who) { " (through a segment in the audience)" }
            }
        }
    }
}

/// If the whole tree is added or removed, no line needs a sign.
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

/// The short form of an effect.
pub(crate) fn headline(effect: &Relation) -> String {
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
