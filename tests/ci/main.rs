//! Plans in pull requests: opened, updated, merged, applied, and reported, on stand-ins for the REST APIs of two code
//! hosts. They speak real HTTP and are strict: a request that the host does not know, a wrong token, a page that is too
//! large, a comment that is too long or an edit of another user's comment fails the test.
#![cfg(unix)]

mod action;
mod again;
mod approved;
mod comments;
mod component;
mod download;
mod environments;
mod failed;
mod init;
mod large;
mod lint;
mod once;
mod outputs;
mod promotion;
mod releases;
mod results;
mod review;
mod runner;
mod shops;
mod summary;
mod targets;
mod team;
mod together;
mod troubles;
mod yaml;
