//! pushplan keeps a messaging service's configuration in git.
//!
//! A project is a folder with a project file and manifests. [`manifest::read_project`] reads all of it into trees that know
//! where each value stands; `resolve` makes of them what one target gets, typed: the [`manifest::Desired`] state. The
//! [`kinds`] say what can be declared, made of the nouns in [`model`], and what the service's API lets one do with it.
//! [`check`] finds what types cannot say and judges how much it matters; what it knows of who is meant is in [`audience`],
//! and of what people will see in [`look`].
//!
//! [`live`] asks the service what it has, through the [`client`]; the [`ledger`] remembers what was applied. [`compare`] holds
//! the three against each other, [`arrange`] turns the changes into ordered steps, and both together are the [`plan`]: data,
//! which [`render`] shows, [`guard`] may refuse and [`apply`] carries out. [`pull`] goes the other way: it writes manifests for
//! what the service has. [`forge`] brings plans into pull requests. [`test_send`] tries a message on one recipient, and [`reach`] tells whom the pushes reached. [`cli`] is
//! the commands.
//!
//! Deciding is pure: nothing there reads a file, a clock or the network. What each layer may use is in `ARCHITECTURE.md`, and a
//! test.

pub mod address;
pub mod apply;
pub mod arrange;
pub mod audience;
pub mod cases;
pub mod check;
#[cfg(feature = "program")]
pub mod cli;
pub mod client;
pub mod codes;
pub mod compare;
pub mod cores;
pub mod digest;
pub mod drift;
pub mod exchange;
pub mod failure;
pub mod fetch;
pub mod files;
pub mod finding;
pub mod forge;
pub mod git;
pub mod guard;
pub mod kinds;
pub mod ledger;
pub mod live;
pub mod look;
pub mod manifest;
pub mod model;
pub mod node;
pub mod plan;
pub mod planner;
pub mod promote;
pub mod pull;
pub mod query;
pub mod reach;
pub mod reconcile;
pub mod rekey;
#[cfg(feature = "program")]
pub mod render;
pub mod review;
#[cfg(feature = "program")]
pub mod service;
pub mod source;
pub mod test_send;
pub mod text;
pub mod timing;
pub mod unmanaged;
