//! The HTML report of a plan: its content, and its appearance in a browser.
//!
//! `tests/plans/report_page/install-chromium` and `tests/plans/report_page/fetch` get what is needed to open pages;
//! `SHOTS=FOLDER cargo test --test plans report_page` also takes pictures.

mod browser;
mod content;
mod reports;
