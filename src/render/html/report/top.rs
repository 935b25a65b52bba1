//! The head of the page: the target, the counts, and the table of contents.

use maud::{Markup, html};

use super::PageReport;
use crate::plan::{Action, Aim};
use crate::render::one_line;
use crate::render::plan::words::moment;
use crate::render::plan::{loosened, people};
use crate::text::count;

impl PageReport<'_> {
    pub(super) fn top(&self) -> Markup {
        let plan = self.view.plan;
        html! {
            header.top {
                p.over {
                    "Plan " b { (self.digest.short()) } " for " bdi { (one_line(&plan.target)) } " (" (service(&plan.origin)) ")"
                }
                h1 { (self.headline()) }
                @if self.decides() || loosened::is_any(&self.view) { (self.verdict()) }
                @if let Some(words) = plan.told.notice() { p.compared { (one_line(&words)) } }
                @if let Some(words) = plan.compared_with() { p.compared { (one_line(&words)) } }
            }
        }
    }

    /// The counts of changes, the time of the plan, and the table of contents. The messages come before it, so that a
    /// small screen shows the first of them without scrolling.
    pub(super) fn summary(&self) -> Markup {
        let plan = self.view.plan;
        html! {
            section.summary aria-label="Summary" {
                (self.badges())
                p.made {
                    "Made " (moment(plan.made)) "."
                    @if plan.basis.is_service() { " It can be applied until " (moment(plan.expires)) "." }
                    @if let Some(file) = &self.ahead.saved { " Saved in " code { (one_line(file)) } "." }
                }
                (self.contents())
            }
        }
    }

    /// The plan in a few words.
    fn headline(&self) -> Markup {
        let plan = self.view.plan;
        let target = html! { bdi { (one_line(&plan.target)) } };
        let number = self.view.blocks.len() + self.view.drift.len();
        match (number, &plan.aim) {
            (0, _) if plan.told.nothing_declared.is_some() => html! { "Your files declare nothing for " (target) },
            (0, Aim::Nothing) => html! { "Nothing to delete on " (target) },
            (0, _) => html! { "No changes for " (target) },
            (number, _) => html! { (count(number, "change")) " for " (target) },
        }
    }

    /// The counts.
    fn badges(&self) -> Markup {
        let view = &self.view;
        let at_once = view.sending_at_once();
        let later = view.sending() - at_once;
        let (stuck, undoing, ignored) = (view.stuck(), view.undoing(), view.ignored());
        let unchanged = view.count(Action::Keep) + view.count(Action::Past);
        let held = view.held();
        html! {
            ul.badges {
                @if at_once > 0 { (badge("danger", "▲", at_once, if at_once == 1 { "sends at once" } else { "send at once" })) }
                @if later > 0 { (badge("danger", "△", later, if later == 1 { "sends later" } else { "send later" })) }
                @if stuck > 0 { (badge("asks", "?", stuck, if stuck == 1 { "waits for a decision" } else { "wait for a decision" })) }
                @if undoing > 0 {
                    (badge("asks", "≠", undoing, if undoing == 1 { "reverts a change made in the dashboard" } else { "revert changes made in the dashboard" }))
                }
                @for action in Action::ALL {
                    @let number = view.count(action) - if action == Action::ByHand { held } else { 0 };
                    @if let (1.., Some(words)) = (number, told(action)) {
                        (badge(mood(action), action.symbol(), number, &words))
                    }
                }
                @if held > 0 { (badge("calm", "!", held, "held")) }
                (badge("calm", "=", unchanged, "unchanged"))
                @if !view.plan.left_out.is_empty() {
                    (badge("calm", "…", view.left_out(), "left out"))
                }
                @if ignored > 0 { (badge("calm", "~", ignored, "left to the dashboard")) }
            }
        }
    }

    /// The table of contents, with the parts that the page has.
    fn contents(&self) -> Markup {
        let view = &self.view;
        let is_something = !view.blocks.is_empty() || !view.drift.is_empty();
        let parts = [
            (is_something, "messages", "Messages"),
            (loosened::is_any(view), "guards", "Guards"),
            (self.decides(), "decisions", "Decisions"),
            (people::people(&self.view).is_some(), "people", people::TITLE),
            (self.happening() > 0, "changes", "Changes"),
            (!view.drift.is_empty(), "drift", "Drift"),
            (view.blocks.len() + view.drift.len() > self.cards.len(), "rest", "All others"),
            (self.has_graph(), "graph", "Dependencies"),
            (!view.past.is_empty(), "past", "Past pushes"),
            (!view.plan.left_out.is_empty(), "left-out", "Left out"),
            (self.has_requests(), "requests", "Requests"),
        ];
        html! {
            @if is_something {
                nav.contents aria-label="Contents" {
                    ul {
                        @for (_, anchor, words) in parts.iter().filter(|(is_there, ..)| *is_there) {
                            li { a href=(format!("#{anchor}")) { (words) } }
                        }
                    }
                }
            }
        }
    }

    pub(super) fn footer(&self) -> Markup {
        let plan = self.view.plan;
        html! {
            footer {
                dl.about {
                    div { dt { "Plan" } dd { code { (self.digest.as_str()) } } }
                    div { dt { "Target" } dd { bdi { (one_line(&plan.target)) } } }
                    div { dt { "Service" } dd { bdi { (one_line(&plan.origin)) } } }
                    div { dt { "Made" } dd { (moment(plan.made)) } }
                    @if plan.basis.is_service() { div { dt { "Expires" } dd { (moment(plan.expires)) } } }
                    div { dt { "Ledger" } dd { "after record " (plan.ledger.seq) } }
                    div { dt { "Made by" } dd { "pushplan " (one_line(&plan.tool)) } }
                }
            }
        }
    }
}

/// What a service is called.
fn service(origin: &str) -> String {
    if origin == "built-in" { "built-in service".to_owned() } else { one_line(origin) }
}

fn badge(mood: &str, sign: &str, number: usize, words: &str) -> Markup {
    html! {
        li class=(format!("badge {mood}")) {
            span.sign aria-hidden="true" { (sign) } " " b { (number) } " " (words)
        }
    }
}

fn told(action: Action) -> Option<String> {
    match action {
        Action::Keep | Action::Past => None,
        Action::ByHand => Some("manual".to_owned()),
        action => Some(format!("to {}", action.word())),
    }
}

/// The colours of an action.
pub(super) fn mood(action: Action) -> &'static str {
    match action {
        Action::Create | Action::Adopt => "new",
        Action::Update | Action::Replace => "changed",
        Action::Delete => "old",
        Action::ByHand => "asks",
        Action::Keep | Action::Forget | Action::Past => "calm",
    }
}

/// The sign and the word of an action.
pub(super) fn action(action: Action) -> Markup {
    html! {
        span class=(format!("chip {}", mood(action))) {
            span aria-hidden="true" { (action.symbol()) } " " (action.word())
        }
    }
}
