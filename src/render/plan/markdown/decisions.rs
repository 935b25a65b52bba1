//! Decisions, in a box that code hosts draw in red.

use super::Cut;
use super::facts::{self, item};
use crate::guard::Refused;
use crate::plan::Change;
use crate::render::escape::markdown;
use crate::render::plan::decisions::{RISKS, called, why};
use crate::render::plan::messages::{self, MessageRow};
use crate::render::plan::text::{NAME, name};
use crate::render::plan::{Block, NextSteps, PlanView, Risk};
use crate::review::MessageClass;
use crate::text::short;

/// The number of blocks per risk that are shown here; all of them follow further down.
const EACH: usize = 12;
/// The number of lines for one block.
const LINES: usize = 6;
/// The numbers of characters of a text that are tried until the block fits.
const CHARACTERS: [usize; 3] = [300, 120, 20];
/// The maximal size of one block in bytes.
const LARGEST: usize = 1_800;

/// The decisions, in at most this many bytes, and the number of those that did not fit and are shown nowhere else.
/// Empty if there are none.
pub fn decisions(view: &PlanView, ahead: &NextSteps, most: usize) -> Cut {
    const OPEN: &str = "> [!CAUTION]\n";
    // The room that is left for the final line about omitted decisions.
    let most = most.saturating_sub(OPEN.len() + 400);
    let (mut out, mut left, mut untold) = (String::new(), 0, 0);
    let mut add = |text: &str| {
        let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
        let fits = out.len() + quoted.len() <= most;
        if fits {
            out.push_str(&quoted);
        }
        fits
    };
    for refused in ahead.refusals() {
        untold += usize::from(!add(&refusal(refused)));
    }
    let (rows, _) = messages::rows(view);
    let risky = rows.iter().filter(|row| row.class.is_risky());
    // Messages that the plan itself sends have an item below.
    for row in risky.filter(|row| !matches!(row.class, MessageClass::SendsNow | MessageClass::SendsLater)).take(EACH) {
        left += usize::from(!add(&risk(row)));
    }
    for (risk, word) in RISKS {
        let mut told = 0;
        let asked = view.blocks.iter().filter(|block| block.risk == risk);
        let all = asked.clone().count();
        for block in asked.take(EACH) {
            if !add(&decision(view, block, called(block, word))) {
                break;
            }
            told += 1;
        }
        if all > told && !add(&format!("- **{word}** and {} more, further down", all - told)) {
            left += all - told;
        }
    }
    left += untold;
    if out.is_empty() && left == 0 {
        return Cut::default();
    }
    if left > 0 {
        out.push_str(&format!("> - and {left} more to decide\n"));
    }
    Cut { text: format!("{OPEN}{out}\n"), left: untold }
}

/// A message that reaches other people than before, or at a bad time.
fn risk(row: &MessageRow) -> String {
    let word = match row.class {
        MessageClass::Everyone => "Every device",
        MessageClass::More => "More people",
        MessageClass::QuietHours => "Quiet hours",
        MessageClass::NewHost => "New host",
        _ => "Different people",
    };
    bounded(|characters| {
        let address = match (&row.address, &row.part) {
            (Some(_), _) => markdown::code(&short(&row.name, characters)),
            (None, Some(part)) => markdown::text(&short(&format!("{} ({part})", row.name), characters)),
            (None, None) => markdown::text(&short(&row.name, characters)),
        };
        let text = |text: &String| markdown::text(&short(text, characters));
        let lines: Vec<String> =
            row.who.iter().map(|(_, words)| words).chain(&row.quiet).chain(&row.hosts).map(text).collect();
        item(&format!("**{word}** {address}:"), &[lines.join("; ")])
    })
}

fn refusal(Refused { message, help, .. }: &Refused) -> String {
    bounded(|characters| {
        let text = |text: &str| markdown::text(&short(text, 2 * characters));
        item("**Refused**", &[text(message), format!("Help: {}", text(help))])
    })
}

fn decision(view: &PlanView, block: &Block, word: &str) -> String {
    let word = if block.risk == Risk::Sends { when(block) } else { word };
    let why = why(view, block);
    bounded(|characters| {
        let text = |text: &str| markdown::text(&format!("“{}”", short(text, characters.min(NAME))));
        let name = name(block).map(|name| format!(" {}", text(name))).unwrap_or_default();
        let address = markdown::code(&short(&block.address.to_string(), characters));
        let more = why.len().saturating_sub(LINES);
        let mut lines: Vec<String> = why.iter().take(LINES).map(|words| facts::line(words, characters)).collect();
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        let colon = if lines.is_empty() { "" } else { ":" };
        item(&format!("**{word}** {address}{name}{colon}"), &lines)
    })
}

/// The title of a block that sends, by whether any message is sent at once.
pub fn when(block: &Block) -> &'static str {
    let at_once = |change: &Change| change.sends.iter().any(|send| send.after_seconds == 0);
    if block.changes().any(at_once) { "Sends at once" } else { "Sends later" }
}

/// The longest form that fits, or the first line of the shortest form.
fn bounded(make: impl Fn(usize) -> String) -> String {
    let forms: Vec<String> = CHARACTERS.into_iter().map(make).collect();
    let first = |form: &String| format!("{}\n", form.lines().next().unwrap_or_default());
    let shortest = forms.last().map(first).unwrap_or_default();
    forms.into_iter().find(|form| form.len() <= LARGEST).unwrap_or(shortest)
}
