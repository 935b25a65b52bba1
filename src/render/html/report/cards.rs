//! One card per change.

use maud::{Markup, html};

use super::{Report, facts, message, top, who, zones};
use crate::plan::Aim;
use crate::render::one_line;
use crate::render::plan::{Block, Risk, rows};
use crate::text::short;

/// How much of a name is shown.
const NAME: usize = 120;

impl Report<'_> {
    pub(super) fn card(&self, number: usize, block: &Block) -> Markup {
        let name = block.changes().next().map(|change| change.name.as_str()).unwrap_or_default();
        let has_name = !name.is_empty() && name != block.address.key;
        html! {
            article.card.(top::mood(block.action)) id=(format!("change-{number}")) {
                header {
                    h3 { (top::action(block.action)) " " span.address { (one_line(&block.address.to_string())) } }
                    @if block.risk == Risk::Sends { span.chip.danger { "sends" } }
                    @if has_name { p.name dir="auto" { (one_line(&short(name, NAME))) } }
                    p.place { (self.place(block)) }
                }
                (self.content(block))
            }
        }
    }

    fn content(&self, block: &Block) -> Markup {
        let when: Vec<_> = rows::when(&self.view, block).into_iter().collect();
        html! {
            (facts::rows(&when))
            (facts::rows(&rows::of_content(block)))
            @if let Some(change) = block.whole {
                (message::message(&self.review, change))
                (who::who(&self.review.who(change)))
                (zones::zones(&self.review, change))
            }
            (facts::rows(&rows::of_words(&self.view, block)))
        }
    }

    /// File and line, or why there is none.
    fn place(&self, block: &Block) -> String {
        match block.changes().find_map(|change| change.place.as_ref()) {
            Some(place) => one_line(&format!("{}:{}", place.file, place.line)),
            None if self.view.plan.aim == Aim::Nothing => String::new(),
            None if block.retired.is_empty() && block.changes().all(|change| change.desired.is_none()) => {
                "not in your files".to_owned()
            }
            None => String::new(),
        }
    }
}
