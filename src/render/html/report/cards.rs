//! One card per change.

use maud::{Markup, html};

use super::{PageReport, facts, message, top, who, zones};
use crate::render::layout::Row;
use crate::render::one_line;
use crate::render::plan::{self, Block, Risk, rows};
use crate::review::Who;
use crate::text::short;

/// The number of characters of a name that are shown.
const NAME: usize = 120;
/// The number of characters of a file's path that are shown.
const PLACE: usize = 300;

impl PageReport<'_> {
    /// The card of a change. A `drifted` one is shown with all its paths, as it would be restored.
    pub(super) fn card(&self, number: usize, block: &Block, who: &[Who], drifted: bool) -> Markup {
        if drifted {
            let content = html! {
                (facts::rows(&rows::of_drift(&self.view, block)))
                (facts::rows(&rows::of_words(&self.view, block)))
            };
            return self.framed(number, block, &content);
        }
        let when = rows::of_times(&self.view, block);
        let fields = rows::of_fields(block);
        // The audience has a separate part.
        let told = block.whole.map(|change| plan::who::rows(&self.view, change)).unwrap_or_default();
        let told: Vec<Row> =
            told.into_iter().filter(|row| ![plan::who::WHO, plan::who::EFFECT].contains(&&*row.label)).collect();
        let content = html! {
            (facts::rows(&when))
            (facts::rows(&fields))
            @if let Some(change) = block.whole {
                (message::message(&self.view.review, change))
                (who::who(change, who))
                (zones::zones(&self.view.review, change))
            }
            (facts::rows(&told))
            (facts::rows(&rows::of_words(&self.view, block)))
        };
        self.framed(number, block, &content)
    }

    /// The card of a change that is too large to be shown.
    pub(super) fn bare_card(&self, number: usize, block: &Block) -> Markup {
        let content =
            html! { p { "This change is too large to be shown here; " code { "--format json" } " has all of it." } };
        self.framed(number, block, &content)
    }

    fn framed(&self, number: usize, block: &Block, content: &Markup) -> Markup {
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
                (content)
            }
        }
    }

    /// File and line, or why there is none.
    fn place(&self, block: &Block) -> String {
        match self.view.place_of(block) {
            Some(place) => format!("{}:{}", one_line(&short(&place.file, PLACE)), place.line),
            None if !self.view.is_by_files() => String::new(),
            None if block.retired.is_empty() && block.changes().all(|change| change.desired.is_none()) => {
                "not in your files".to_owned()
            }
            None => String::new(),
        }
    }
}
