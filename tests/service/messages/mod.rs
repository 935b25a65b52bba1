//! Everything that sends, over HTTP: pushes, templates, schedules, experiments and pipelines.

mod campaigns;
mod experiments;
mod harness;
mod inactivity;
mod pipelines;
mod push;
mod restart;
mod schedules;
mod templates;
