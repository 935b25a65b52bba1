//! Plans: what is decided, and how people and programs see it.

mod build;
mod calendar;
mod large_plans;
mod plan_markdown;
mod plan_shown;
mod planning;
mod plans;
mod preview;
mod report_page;
mod samples;
