//! Ledgers: their commands, their files, and all real locations, with one test suite for all of them.

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
