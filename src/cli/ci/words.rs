//! Names that a workflow reads literally.

use serde_json::Value;

use crate::failure::{Failure, FailureKind};
use crate::render::one_line;

/// The beginning of an expression on GitHub.
pub(crate) const EXPRESSION: &str = "${{";

/// Quotes a text so that YAML reads it literally.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A template with its marks replaced by values. A mark within a value is not replaced.
pub fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('@') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (mark, value) =
            values.iter().find(|(mark, _)| rest.starts_with(mark)).map_or(("@", "@"), |(mark, value)| (*mark, value));
        out.push_str(value);
        rest = &rest[mark.len()..];
    }
    out + rest
}

/// A branch as a filter for pushes that matches only that branch.
pub fn pattern(branch: &str) -> String {
    let escaped = branch.replace('+', "\\+");
    if escaped.starts_with('!') { format!("\\{escaped}") } else { escaped }
}

/// Checks that git accepts a branch name and a workflow reads it literally.
pub(crate) fn check_branch(branch: &str) -> Result<(), Failure> {
    let why = match wrong_in(branch) {
        None if branch.contains(EXPRESSION) => format!("`{EXPRESSION}` begins an expression in a workflow"),
        None => return Ok(()),
        Some(why) => why,
    };
    Err(Failure::usage(format!("`{}` is not the name of one branch: {why}", one_line(branch)))
        .help("--branch NAME names the one branch whose pushes are applied, such as --branch main"))
}

/// The part of a branch name that git does not accept.
fn wrong_in(branch: &str) -> Option<String> {
    let is_sign = |c: &char| c.is_control() || " ~^:?*[\\".contains(*c);
    if branch.is_empty() {
        return Some("it is empty".to_owned());
    }
    if let Some(sign) = branch.chars().find(is_sign) {
        return Some(match sign {
            ' ' => "a branch has no spaces in its name".to_owned(),
            sign if sign.is_control() => "it holds a control character".to_owned(),
            sign => format!("a branch has no `{sign}` in its name"),
        });
    }
    if let Some(sign) = ["..", "@{", "//"].into_iter().find(|sign| branch.contains(sign)) {
        return Some(format!("a branch has no `{sign}` in its name"));
    }
    let begins = ['-', '/'].into_iter().find(|sign| branch.starts_with(*sign));
    let ends = ['/', '.'].into_iter().find(|sign| branch.ends_with(*sign));
    let is_wrong = |part: &str| part.starts_with('.') || part.ends_with(".lock");
    match (begins, ends) {
        (Some(sign), _) => Some(format!("a branch does not begin with `{sign}`")),
        (_, Some(sign)) => Some(format!("a branch does not end with `{sign}`")),
        _ if branch == "@" || branch == "HEAD" => Some("git means something else by it".to_owned()),
        _ if branch.split('/').any(is_wrong) => Some("no part of it begins with `.` or ends with `.lock`".to_owned()),
        _ => None,
    }
}

/// Checks that a workflow reads the name of a folder literally. `sign` begins an expression there.
pub(crate) fn check_folder(folder: &str, sign: &str) -> Result<(), Failure> {
    let why = match folder {
        folder if folder.chars().any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER) => {
            "it holds a control character, or is not UTF-8".to_owned()
        }
        folder if folder.contains(sign) => format!("`{sign}` is not read as a text there"),
        _ => return Ok(()),
    };
    Err(Failure::usage(format!("the folder `{}` cannot be named in a workflow: {why}", one_line(folder)))
        .help("give the folder of the project another name"))
}

/// The failure for a target whose name `validate` reports.
pub(crate) fn wrong_target(name: &str) -> Failure {
    Failure::new(format!("`{}` cannot be the name of a target", one_line(name)))
        .kind(FailureKind::Invalid)
        .help("`pushplan validate` tells what to write in pushplan.toml")
}
