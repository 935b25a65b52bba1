//! The HTML report of a plan: what is in it, and how a browser shows it.
//!
//! `tests/report_page/install-chromium` and `tests/report_page/fetch` get what is needed to open pages;
//! `SHOTS=FOLDER cargo test --test report_page` also takes pictures.

mod browser;
#[path = "../plan_shown/build.rs"]
mod build;
mod content;
#[path = "../plan_shown/plans.rs"]
mod plans;
mod reports;
