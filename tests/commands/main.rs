//! Commands and what documents say of them, as a user meets them.

mod codes;
mod device_tests;
mod embed;
mod explain;
mod init;
mod readme;
mod shell;
