//! Ledgers: the commands for them, the files, and the places where one can be kept, each of them real, with one suite of
//! behaviour over all of them.

mod file;
mod files;
mod git;
mod ledger_commands;
mod ledger_crash;
mod ledger_file;
mod ledger_unwritten;
mod object;
mod postgres;
mod suite;
