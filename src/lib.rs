//! pushplan keeps a messaging service's configuration in git.
//!
//! A project is a folder with a project file and manifests. [`manifest::read_project`] reads all of it into trees that know
//! where each value stands; `resolve` makes of them what one target gets, typed: the [`manifest::Desired`] state. The
//! [`kinds`] say what can be declared, made of the nouns in [`nouns`], and what the service's API lets one do with it.
//! [`check`] finds what types cannot say and judges how much it matters; what it knows of who is meant is in [`audience`],
//! and of what people will see in [`look`].
//!
//! [`live`] asks the service what it has, through the [`client`]; the [`ledger`] remembers what was applied. [`compare`] holds
//! the three against each other, [`arrange`] turns the changes into ordered steps, and both together are the [`plan`]: data,
//! which [`render`] shows, [`guard`] may refuse and [`apply`] carries out. [`pull`] goes the other way: it writes manifests for
//! what the service has. [`forge`] brings plans into pull requests. [`test_send`] tries a message on one recipient, and [`outcome`] tells whom the
//! pushes reached. [`cli`] is the commands.
//!
//! Deciding is pure: nothing there reads a file, a clock or the network. What each layer may use is in `ARCHITECTURE.md`, and a
//! test.

pub use pushplan_core::{
    apply, arrange, compare, drift, engine, fetch, forge, guard, live, outcome, plan, planner, promote, pull, query,
    reconcile, rekey, review, test_send, unmanaged,
};
pub use pushplan_io::{client, failure, files, git, private};
pub use pushplan_ledger as ledger;
pub use pushplan_model::{
    address, audience, backoff, codes, cores, digest, exchange, finding, kinds, node, nouns, population, source, text,
};
pub use pushplan_project::{cases, check, look, manifest, timing};
#[cfg(feature = "program")]
pub use pushplan_service as service;

#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "program")]
pub mod exit;
#[cfg(feature = "program")]
pub mod render;
