//! Files that are named and not read.

use std::path::Path;

use pushplan_io::files::Refused;
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::source::Span;

/// The finding for a file or folder that is named and not read.
pub(super) fn refused(root: &Path, name: &str, at: Span, why: Refused) -> Finding {
    match why {
        Refused::Outside => Finding::new(&codes::RF106, at, format!("`{name}` is outside the project"))
            .label("must be below the folder of pushplan.toml")
            .note("a pull request must not be able to read other files of the machine that checks it")
            .help("move it into the project and write its path relative to pushplan.toml"),
        Refused::Hidden => Finding::new(&codes::RF106, at, format!("`{name}` is hidden"))
            .label("a name that starts with a dot is not read")
            .note("a pull request must not be able to read credentials, such as those in `.git/config`")
            .help("give the file another name, outside hidden folders"),
        Refused::Link(path) => {
            let link = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            Finding::new(&codes::RF107, at, format!("`{link}` is a symbolic link, which is not followed"))
                .label("a symbolic link")
                .help("put the file itself into the project")
        }
        Refused::Unreadable(why) => Finding::new(&codes::RF108, at, format!("`{name}` cannot be read: {why}"))
            .label("this file")
            .note("paths are relative to the folder of pushplan.toml"),
    }
}
