//! pushplan keeps a messaging service's configuration in git.
//!
//! A project is a folder with a project file and manifests. [`manifest::read_project`] reads all of it into trees with
//! the position of each value; `resolve` computes the typed, [`manifest::Desired`] state of one target from them. The
//! [`kinds`] define what can be declared, with the nouns in [`nouns`], and what the service's API allows. [`check`]
//! applies rules beyond types and weighs the findings; [`audience`] has its logic of audiences, and [`look`] that of
//! visible texts.
//!
//! [`live`] reads the state of the service, through the [`client`]; the [`ledger`] records what was applied.
//! [`compare`] compares the three, [`arrange`] turns the changes into ordered steps, and both together make the
//! [`plan`]: data, which [`render`] shows, [`guard`] may refuse and [`apply`] carries out. [`pull`] goes the other way:
//! it writes manifests for existing resources. [`forge`] shows plans in pull requests. [`test_send`] sends a message to
//! one recipient, and [`outcome`] reports how many devices the pushes reached. [`cli`] has the commands.
//!
//! Deciding is pure: those modules read no file, clock or network. `ARCHITECTURE.md` lists what each layer may use, and
//! a test checks it.

pub use pushplan_core::{
    apply, arrange, compare, drift, engine, fetch, forge, guard, live, outcome, plan, planner, promote, pull, query,
    reconcile, rekey, review, test_send, unmanaged,
};
pub use pushplan_io::{client, failure, files, git, private};
pub use pushplan_ledger as ledger;
pub use pushplan_model::{
    address, audience, backoff, codes, cores, digest, exchange, finding, kinds, node, nouns, population, source, text,
};
pub use pushplan_project::{cases, check, look, manifest, timing, translations};
#[cfg(feature = "program")]
pub use pushplan_service as service;

#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "program")]
pub mod exit;
#[cfg(feature = "program")]
pub mod render;
