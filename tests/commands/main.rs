//! Commands and what documents say of them, as a user meets them.

mod book;
mod codes;
mod console;
mod device_tests;
mod embed;
mod examples;
mod explain;
mod init;
mod picture;
mod readme;
mod shell;
