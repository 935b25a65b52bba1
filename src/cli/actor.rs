//! Who runs a command, as the ledger remembers it.

use std::fs;

use crate::text;

/// The longest name that is remembered.
const MOST: usize = 120;

/// Who runs this, in words for people: `ada on build-7`, or what `PUSHPLAN_ACTOR` says.
pub fn actor() -> String {
    let env = |name: &str| std::env::var(name).ok();
    let read = |path: &str| fs::read_to_string(path).ok();
    let host = read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname"));
    named(&env, host.as_deref())
}

fn named(env: &dyn Fn(&str) -> Option<String>, host: Option<&str>) -> String {
    let plain = |name: String| Some(text::short(name.trim(), MOST)).filter(|name| !name.is_empty());
    let first = |names: &[&str]| names.iter().find_map(|name| env(name).and_then(plain));
    if let Some(given) = first(&["PUSHPLAN_ACTOR"]) {
        return given;
    }
    let person = first(&["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "USER", "LOGNAME", "USERNAME"]);
    let person = person.unwrap_or_else(|| "somebody".to_owned());
    match host.map(str::to_owned).and_then(plain).or_else(|| first(&["HOSTNAME", "COMPUTERNAME"])) {
        Some(host) => format!("{person} on {host}"),
        None => person,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_named_by_what_the_machine_knows() {
        let name = |vars: &[(&str, &str)], host| {
            let vars: Vec<(String, String)> =
                vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let env = move |name: &str| vars.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            named(&env, host)
        };
        assert_eq!(name(&[("USER", "ada")], Some("build-7\n")), "ada on build-7");
        assert_eq!(name(&[("USER", ""), ("LOGNAME", "ada"), ("HOSTNAME", "h")], None), "ada on h");
        assert_eq!(name(&[("PUSHPLAN_ACTOR", "release\n42"), ("USER", "ada")], Some("h")), "release\u{fffd}42");
        assert_eq!(name(&[], None), "somebody");
    }
}
