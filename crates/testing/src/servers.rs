//! Real servers that stores of objects run on, one of each for all tests of a process.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::{missing, root};

/// A server that ends when this process does.
#[derive(Debug)]
struct Server {
    port: u16,
    /// Holds its standard input open.
    _child: Child,
}

/// The port of a server that speaks S3, with a bucket `team`; `None` where it is not installed and need not be.
pub fn moto() -> Option<u16> {
    static ONE: OnceLock<Option<Server>> = OnceLock::new();
    let one = ONE.get_or_init(|| start("moto", "target/moto/bin/python", "PUSHPLAN_REQUIRE_MOTO"));
    one.as_ref().map(|server| server.port)
}

/// The port of a server that speaks Azure's blob storage, with a container `team`; `None` where it is not installed and need not be.
pub fn azurite() -> Option<u16> {
    static ONE: OnceLock<Option<Server>> = OnceLock::new();
    let program = "target/azurite/node_modules/.bin/azurite-blob";
    let one = ONE.get_or_init(|| start("azurite", program, "PUSHPLAN_REQUIRE_AZURITE"));
    one.as_ref().map(|server| server.port)
}

fn start(name: &str, program: &str, require: &str) -> Option<Server> {
    let root = root();
    if !root.join(program).exists() {
        missing(name, &format!("run tests/stores/object/install-{name}"), require);
        return None;
    }
    let mut child = Command::new(root.join("tests/stores/object").join(format!("start-{name}")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("it prints its port");
    Some(Server { port: line.trim().parse().expect("a port"), _child: child })
}
