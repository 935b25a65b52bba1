//! pushplan keeps a messaging service's configuration in git.
//!
//! A project is a folder with a project file and manifests. [`manifest::read_project`] reads all of it into trees that know
//! where each value stands; `resolve` makes of them what one target gets, typed: the [`manifest::Desired`] state. The
//! [`kinds`] say what can be declared, made of the nouns in [`model`]. [`check`] finds what types cannot say and judges how
//! much it matters. [`render`] shows it, and [`cli`] is the commands.
//!
//! Deciding is pure: no check reads a file or the clock. What each layer may use is in `ARCHITECTURE.md`, and a test.

pub mod address;
pub mod apply;
pub mod arrange;
pub mod check;
pub mod cli;
pub mod client;
pub mod codes;
pub mod compare;
pub mod digest;
pub mod exchange;
pub mod failure;
pub mod finding;
pub mod guard;
pub mod kinds;
pub mod ledger;
pub mod live;
pub mod manifest;
pub mod model;
pub mod node;
pub mod plan;
pub mod render;
pub mod service;
pub mod source;
pub mod text;
