//! Commands and their documentation, from the user's point of view.

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
