//! How the program is linked.

use std::env::var;

/// With glibc it stays where the linker put it. To move it elsewhere, tens of thousands of addresses would be corrected at every
/// start, which takes longer than most of what a command does. Its stack, its heap and its libraries are still anywhere; its own
/// code and constants are not.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_static = of("FEATURE").split(',').any(|feature| feature == "crt-static");
    if of("OS") == "linux" && of("ENV") == "gnu" && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
