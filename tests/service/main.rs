//! The built-in service and its client over real sockets.

mod client;
mod contract;
mod devices;
mod fairness;
mod faults;
mod full;
mod hostile;
mod kept;
mod local;
mod local_contract;
mod local_target;
mod messages;
mod model;
mod pages;
mod reach;
mod reports;
mod serve;
mod stated;
mod support;
mod tls;
mod webhook;
mod webhook_settings;
mod wire;
mod wire_habits;
