//! The real binary, killed and stopped at any moment, and with faults on its way to the service and the ledger.

mod apply_crash;
mod contention;
mod proxy;
mod service_crash;
