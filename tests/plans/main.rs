//! Plans: the decisions of the planner, and their output for users and programs.

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
