//! The files of a folder that git tracks: anyone who can change a commit can write them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::find::located;
use super::locate::{Located, real};
use super::{Git, Unusable};

/// Returns the files in a folder that git tracks, by their names in it; the empty name is another repository in its
/// place. Case is ignored, because some disks ignore it. In a repository that git does not use, the answer is unknown.
pub fn tracked(folder: &Path) -> Result<Vec<String>, Unusable> {
    let Ok(folder) = real(folder) else { return Ok(Vec::new()) };
    let Some(Located { dir, top }) = located(&folder)? else { return Ok(Vec::new()) };
    let parts = folder.strip_prefix(&top).unwrap_or(&folder).iter().map(|part| part.to_string_lossy());
    let within = parts.collect::<Vec<_>>().join("/");
    // Most folders are not tracked, and starting git takes longer than reading its index.
    let is_certain = match fs::read(dir.join("index")) {
        Ok(index) => lacks(&index, within.rsplit('/').next().unwrap_or_default().as_bytes()),
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if is_certain {
        return Ok(Vec::new());
    }
    let Some(git) = Git::find_now(&top)? else { return Ok(Vec::new()) };
    let listed = git.say(&["ls-files", "-z", "--", &format!(":(icase,literal){within}")])?;
    if !listed.is_ok {
        return Err(Unusable::Refused(listed.err));
    }
    let names = listed.out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let inside = |name: &[u8]| {
        let name = name.get(within.len()..).unwrap_or_default();
        String::from_utf8_lossy(name.strip_prefix(b"/").unwrap_or(name)).into_owned()
    };
    Ok(names.map(inside).collect())
}

/// Whether an index certainly contains no path with this name. Version 4 shortens paths, and a split or sparse index
/// omits some.
fn lacks(index: &[u8], name: &[u8]) -> bool {
    let has = |text: &[u8]| index.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text));
    let is_plain = matches!(index.get(..8), Some([b'D', b'I', b'R', b'C', 0, 0, 0, 2 | 3]));
    is_plain && !name.is_empty() && !has(b"link") && !has(b"sdir") && !has(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_index_with_whole_paths_proves_that_a_name_is_not_tracked() {
        let lacks = |index: &[u8]| lacks(index, b".pushplan");
        assert!(lacks(b"DIRC\0\0\0\x02 messages.yaml TREE"));
        assert!(!lacks(b"DIRC\0\0\0\x02 .pushplan/ledger TREE"));
        assert!(!lacks(b"DIRC\0\0\0\x03 messages.yaml link"));
        assert!(!lacks(b"DIRC\0\0\0\x03 messages.yaml sdir"));
        assert!(!lacks(b"DIRC\0\0\0\x04 messages.yaml TREE"));
        assert!(!lacks(b"DIRC\0\0\0\x02 .PushPlan/ledger TREE"));
        assert!(!lacks(b"damaged") && !lacks(b""));
    }
}
