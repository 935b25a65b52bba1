//! The English of what users read: phrases that had to be read twice do not come back.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pushplan_testing::{crates, root, sources};

/// Phrases and the reason against them: what to write instead.
const PHRASES: [(&str, &str); 110] = [
    ("without a word", "silently"),
    ("whoever", "name who acts"),
    ("is told", "is shown, is reported"),
    ("are told", "are shown, are reported"),
    ("is said", "is shown, is reported"),
    ("are said", "are shown, are reported"),
    ("lies in", "is in, is stored in"),
    ("nobody to ask", "cannot ask for confirmation"),
    ("not known to be", "unknown, or the plain noun"),
    ("nothing of the kind", "name the thing"),
    ("slip of the pen", "typo"),
    ("somebody", "someone, another user"),
    ("goes on", "continues"),
    ("go on from", "continue from"),
    ("made anew", "created again"),
    ("makes anew", "creates again"),
    ("lets go of", "forgets, removes from the ledger"),
    ("let go of", "forget, remove from the ledger"),
    ("is at work", "holds the lock"),
    ("by saying it again", "repeat the option"),
    ("so many deletions", "up to this number of"),
    ("begin nothing more", "stop"),
    ("may be asked for", "can be repeated"),
    ("things of ours", "managed things"),
    ("nothing of ours", "pushplan manages nothing"),
    ("gone out for the last time", "until the last send"),
    ("once it is made", "after creation"),
    ("for scripts to go by", "leave it out"),
    ("nobody has said", "the result is unknown"),
    ("to be done by hand", "manual step"),
    ("ask the service nothing", "without the service"),
    ("made a second time", "created a second time"),
    ("this look alone", "this preview only"),
    ("and not ours", "not managed"),
    ("is not ours", "is not managed"),
    ("as not yours", "as not managed"),
    ("people with the tag", "a condition: `tag vip`"),
    ("everyone but", "everyone except"),
    ("nobody's in git", "not in your files"),
    ("begin anew", "start with an empty ledger"),
    ("put it back from", "restore it from a backup"),
    ("is then not known", "name who does not know it"),
    ("is to be in", "is configured to be in"),
    ("broke off", "was lost, is incomplete"),
    ("called off", "cancelled"),
    ("call it off", "cancel it"),
    ("calls off", "cancels"),
    ("in doubt", "unconfirmed"),
    ("say so again", "run the command again"),
    ("too much to do", "limits the rate of requests"),
    ("for all to read", "unencrypted"),
    ("look whether", "check that"),
    ("if it is meant", "if this is intended"),
    ("as it is, it would not", "Apply will refuse this plan"),
    ("stands in two places", "is declared twice"),
    ("stands twice", "is repeated"),
    ("stand beside", "be combined with"),
    ("set off the pipeline", "triggered the pipeline"),
    ("sets off a pipeline", "triggers a pipeline"),
    ("set each other off", "trigger each other"),
    ("each device's own clock", "recipients' local time"),
    ("by their own clock", "local time"),
    ("clocks are put", "clocks go forward, clocks go back"),
    ("knows nothing by", "does not have"),
    ("would know it", "would have it"),
    ("takes them in", "adds them"),
    ("points at what", "dependencies"),
    ("people read the braces", "recipients see the braces"),
    ("leads nowhere", "is invalid"),
    ("once they are done", "after these steps"),
    ("took over what was there", "adopted existing resources"),
    ("was taken over", "was adopted"),
    ("who is meant", "the audience"),
    ("what is meant", "the intended value"),
    ("leave nobody out", "exclude nobody"),
    ("is gone for good", "is dead"),
    ("on their way", "in progress"),
    ("under way", "running, in progress"),
    ("if nothing more is heard", "unless it is renewed"),
    ("namesake", "name the resource with this name"),
    ("near to each other", "close together"),
    ("had their time", "have passed"),
    ("a second time", "again, twice"),
    ("left alone", "skipped, not changed"),
    ("stays where it is", "was not moved"),
    ("in the meantime", "leave it out"),
    ("looking again", "checking again"),
    ("belongs to nothing", "not expected here"),
    ("nothing is given here", "no value"),
    ("slip", "typo"),
    ("is no id", "is not an id"),
    ("half a", "incomplete"),
    ("one too many", "over the limit"),
    ("goes out", "is sent"),
    ("go out", "are sent"),
    ("says something else", "its text changes"),
    ("has done their part", "once the manual steps are done"),
    ("its own audience", "the audience of X was edited"),
    ("of its kinds of device", "to every device of its device types"),
    ("holds the old id", "still uses the old version"),
    ("as it was last applied", "unchanged since the last apply"),
    ("is one per person", "data of single people"),
    ("changed like this", "this change cannot be made"),
    ("is in no list", "the service does not list it"),
    ("decide the questions", "choose one of the ways"),
    ("would message people", "people would get"),
    ("this holds for", "this is reported for"),
    ("no guard stops", "it may reach"),
    ("takes the channel", "removes the channel"),
    ("an impossible step", "this step is impossible"),
];

/// Sentences in which a phrase has its plain meaning.
const PLAIN: [&str; 2] = ["are told apart", "and it goes on until the"];

/// The string literals of a source file, without its tests and comments.
fn literals(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let here = &rest[at..];
        rest = &rest[at + 1..];
        if here.starts_with("//") {
            rest = here.split_once('\n').map_or("", |(_, after)| after);
        } else if here.starts_with("'\"'") || here.starts_with("'\\\"'") {
            rest = &here[here[1..].find('\'').map_or(1, |end| end + 2)..];
        } else if here.starts_with('"') {
            let mut escaped = false;
            let end = rest.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let (literal, after) = rest.split_at(end.unwrap_or(rest.len()));
            // A line that is continued is one text.
            let words: Vec<&str> = literal.split("\\\n").map(str::trim_start).collect();
            found.push(words.concat());
            rest = after.strip_prefix('"').unwrap_or(after);
        }
    }
    found
}

/// The places of phrases in a text.
fn found(name: &str, text: &str, into: &mut BTreeSet<String>) {
    let mut text = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    for plain in PLAIN {
        text = text.replace(plain, "");
    }
    for (phrase, instead) in PHRASES {
        let is_word = |at: usize| {
            let before = text[..at].chars().next_back();
            let after = text[at + phrase.len()..].chars().next();
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
        };
        if let Some((at, _)) = text.match_indices(phrase).find(|(at, _)| is_word(*at)) {
            let from = text[..at].char_indices().rev().nth(40).map_or(0, |(at, _)| at);
            let line: String = text[from..].chars().take(100).collect();
            into.insert(format!("{name}: `{phrase}` (write: {instead}) in: {line}"));
        }
    }
}

fn pages(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            pages(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "md" || extension == "json") {
            found(&path.display().to_string(), &fs::read_to_string(&path).expect("a text"), into);
        }
    }
}

#[test]
fn what_users_read_is_plain_english() {
    let mut all = BTreeSet::new();
    let is_test = |name: &str| name.ends_with("tests.rs") || name.contains("/tests/");
    for file in sources(&crates()).into_iter().filter(|file| !is_test(&file.name)) {
        for literal in literals(&file.text) {
            found(&file.name, &literal, &mut all);
        }
    }
    for name in ["README.md", "CHANGELOG.md"] {
        found(name, &fs::read_to_string(root().join(name)).expect("a text"), &mut all);
    }
    // The reference of `docs` has the help of all commands and the pages of all codes.
    pages(&root().join("docs/src"), &mut all);
    pages(&root().join("schema"), &mut all);
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn literals_are_found_and_comments_are_not() {
    let text = "// \"a\"\nlet b = \"b \\\"c\\\" \\\n    d\"; // \"e\"\nlet q = '\"'; f(\"g\")\n#[cfg(test)]\nmod tests {\n \"h\"";
    assert_eq!(literals(text), ["b \\\"c\\\" d", "g"]);
}
