//! What a person has to decide, in a box that hosts draw in red.

use super::facts::{self, item};
use super::Cut;
use crate::guard::Refused;
use crate::plan::Change;
use crate::render::escape::markdown;
use crate::render::plan::decisions::{RISKS, why};
use crate::render::plan::text::{NAME, name};
use crate::render::plan::{Ahead, Block, Risk, View};
use crate::text::short;

/// How many of one risk are told here; all of them stand further down.
const EACH: usize = 12;
/// How many lines are told of one of them.
const LINES: usize = 6;
/// How many characters a line has.
const CHARACTERS: usize = 300;
/// How many bytes one of them has at the most.
const LARGEST: usize = 2_000;

/// The decisions, in at most so many bytes. Nothing where there are none.
pub fn decisions(view: &View, ahead: &Ahead, most: usize) -> Cut {
    const OPEN: &str = "> [!CAUTION]\n";
    // What is left out has a line at the end.
    let most = most.saturating_sub(OPEN.len() + 400);
    let (mut out, mut left) = (String::new(), 0);
    let mut add = |text: &str| {
        let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
        let fits = out.len() + quoted.len() <= most;
        if fits {
            out.push_str(&quoted);
        }
        fits
    };
    for refused in ahead.refusals() {
        left += usize::from(!add(&refusal(refused)));
    }
    for (risk, word) in RISKS {
        let mut told = 0;
        let asked = view.blocks.iter().filter(|block| block.risk == risk);
        let all = asked.clone().count();
        for block in asked.take(EACH) {
            if !add(&decision(view, block, word)) {
                break;
            }
            told += 1;
        }
        if all > told && !add(&format!("- **{word}** and {} more, further down", all - told)) {
            left += all - told;
        }
    }
    if out.is_empty() && left == 0 {
        return Cut::default();
    }
    if left > 0 {
        out.push_str(&format!("> - and {left} more to decide\n"));
    }
    Cut { text: format!("{OPEN}{out}\n"), left }
}

fn refusal(Refused { message, help, .. }: &Refused) -> String {
    let way = format!("Way out: {}", markdown::text(&short(help, CHARACTERS)));
    bounded(item("**Refused**", &[markdown::text(&short(message, CHARACTERS)), way]))
}

fn decision(view: &View, block: &Block, word: &str) -> String {
    let word = if block.risk == Risk::Sends { when(block) } else { word };
    let name = name(block).map(|name| format!(" {}", markdown::text(&format!("“{}”", short(name, NAME))))).unwrap_or_default();
    let address = markdown::code(&short(&block.address.to_string(), CHARACTERS));
    let why: Vec<String> = why(view, block).iter().map(|words| facts::line(words, CHARACTERS)).collect();
    let more = why.len().saturating_sub(LINES);
    let mut lines: Vec<String> = why.into_iter().take(LINES).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    let colon = if lines.is_empty() { "" } else { ":" };
    bounded(item(&format!("**{word}** {address}{name}{colon}"), &lines))
}

/// Whether any message goes out at once.
pub fn when(block: &Block) -> &'static str {
    let at_once = |change: &Change| change.sends.iter().any(|send| send.after_seconds == 0);
    if block.changes().any(at_once) { "Sends at once" } else { "Sends later" }
}

/// Of one that is too large, its first line alone; and where that is too large too, that it is there.
fn bounded(item: String) -> String {
    let first = item.lines().next().unwrap_or_default();
    match item.len() <= LARGEST {
        true => item,
        false if first.len() <= LARGEST => format!("{first}\n"),
        false => "- one that is too long to be told here\n".to_owned(),
    }
}
