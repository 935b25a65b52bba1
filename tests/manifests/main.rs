//! Manifests: how they are read, checked, written, edited and pulled.

mod advice;
mod audience;
mod authoring;
mod canonical;
mod catalogues;
mod content;
mod editing;
mod fix;
mod fmt;
mod formats;
mod generated;
mod hidden_by_none;
mod localizations;
mod meaning;
mod messages;
mod overrides;
mod pull;
mod random_projects;
mod references;
mod schema;
mod shape;
mod slips;
mod targets;
mod truth;
mod validate;
mod yaml_suite;
