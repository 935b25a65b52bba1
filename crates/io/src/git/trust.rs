//! A repository that git refuses because its files belong to another user.

/// Git's messages about such a repository, in its versions.
const SIGNS: [&str; 2] = ["dubious ownership", "unsafe repository"];

/// The meaning of such a message.
pub const OF_ANOTHER: &str = "the repository belongs to another user, so git does not read it";

/// Returns how to fix it; `None` if git refuses for another reason. pushplan does not trust the repository unasked,
/// because its settings can name programs that git would run.
pub fn trust(err: &str) -> Option<String> {
    SIGNS.iter().any(|sign| err.contains(sign)).then_some(())?;
    const COMMAND: &str = "git config --global --add safe.directory ";
    // The text may come from another machine, so a folder is repeated only if a shell would run nothing in it.
    let is_plain = |folder: &&str| !folder.contains(|c: char| c.is_control() || ";&|<>$`(){}!\\\"".contains(c));
    let folder =
        err.lines().find_map(|line| line.trim().strip_prefix(COMMAND)).filter(is_plain).unwrap_or("<its folder>");
    Some(format!(
        "run pushplan as the user who owns these files, in a container with `docker run -u \"$(id -u):$(id -g)\"`; \
            or, if you trust the repository: {COMMAND}{folder}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gits_own_command_is_repeated_and_nothing_else_is_taken_for_it() {
        let said = "fatal: detected dubious ownership in repository at '/project'\nTo add an exception for this directory, call:\n\n\
                    \tgit config --global --add safe.directory /project\n";
        let help = trust(said).expect("help");
        assert!(help.ends_with(": git config --global --add safe.directory /project"), "{help}");
        let older = "fatal: unsafe repository ('/project' is owned by someone else)";
        assert!(trust(older).is_some_and(|help| help.ends_with(" <its folder>")));
        let evil = said.replace("/project", "/project; echo");
        assert!(trust(&evil).is_some_and(|help| help.ends_with(" <its folder>")));
        assert_eq!(trust("fatal: not a git repository"), None);
    }
}
