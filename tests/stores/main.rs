//! The places where a ledger can be kept, each of them real, and one suite of behaviour over all of them.

mod file;
mod git;
mod object;
mod postgres;
mod suite;
