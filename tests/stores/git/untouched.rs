//! The user's repository is left unchanged.

use std::fs;
use std::path::Path;

use pushplan::digest::Digest;
use pushplan::ledger::git::GitStore;
use pushplan::ledger::store::{Start, Store};

use super::places::{Team, create, file, files, fill, git, read, stored, try_git};

/// The state of a repository as a user sees it.
fn seen(clone: &Path) -> Vec<String> {
    let text = |bytes: Option<Vec<u8>>| format!("{:?}", bytes.as_deref().map(Digest::of));
    let at = clone.join(".git");
    let mut seen: Vec<String> = ["index", "HEAD", "FETCH_HEAD", "ORIG_HEAD", "shallow", "config", "packed-refs"]
        .map(|name| text(file(at.join(name))))
        .into();
    for args in [
        ["status", "--porcelain=v2", "--branch"].as_slice(),
        &["for-each-ref", "--exclude=refs/pushplan-seen", "--exclude=refs/mirror/pushplan*/**"],
        &["reflog", "--all"],
        &["stash", "list"],
    ] {
        seen.push(git(clone, args));
    }
    // If git is set to fetch all refs of the server, it fetches these too.
    let own = ["/objects/", "/refs/pushplan-seen", "/refs/mirror/pushplan"];
    seen.extend(
        files(clone, &own).into_iter().map(|(path, bytes)| format!("{} {}", path.display(), Digest::of(&bytes))),
    );
    seen
}

#[tokio::test]
async fn a_dirty_index_and_a_running_rebase_do_not_matter_and_stay() {
    let team = Team::new();
    let (clone, store) = team.member("ada");
    let (_, other) = team.member("bob");
    for (name, value) in [
        ("fetch.prune", "true"),
        ("fetch.pruneTags", "true"),
        ("push.followTags", "true"),
        ("push.gpgSign", "true"),
        ("commit.gpgSign", "true"),
        ("core.logAllRefUpdates", "always"),
        ("core.hooksPath", "hooks"),
        ("remote.origin.tagOpt", "--tags"),
        ("push.default", "matching"),
        ("fetch.writeCommitGraph", "true"),
        ("push.pushOption", "ci.skip"),
    ] {
        git(&clone, &["config", name, value]);
    }
    git(&clone, &["config", "--add", "remote.origin.fetch", "+refs/*:refs/mirror/*"]);
    git(&clone, &["tag", "mine"]);
    let hooks = clone.join("hooks");
    fs::create_dir(&hooks).expect("a folder");
    for hook in ["pre-push", "reference-transaction", "post-commit"] {
        fs::write(hooks.join(hook), "#!/bin/sh\nexit 1\n").expect("a hook");
        #[cfg(unix)]
        fs::set_permissions(hooks.join(hook), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    }
    let plain = |args: &[&str]| {
        try_git(&clone, &[&["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"], args].concat())
    };
    plain(&["checkout", "-qb", "topic", "HEAD~2"]);
    fs::write(clone.join("a.txt"), "mine").expect("a file");
    plain(&["commit", "-qam", "mine"]);
    assert!(!plain(&["rebase", "main"]).0, "it stops at a conflict");
    fs::write(clone.join("staged.txt"), "staged").expect("a file");
    plain(&["add", "staged.txt"]);
    fs::write(clone.join("new.txt"), "new").expect("a file");
    git(&clone, &["status"]);
    let before = seen(&clone);
    fill(&store, &["a", "b", "checkpoint", "c"]).await;
    read(&other).await;
    create(&other, 5, "d").await.expect("another member");
    assert_eq!(read(&store).await.len(), 3);
    assert_eq!(store.read(Start::At(1)).await.expect("older records").len(), 5);
    assert_eq!(seen(&clone), before);
    assert_eq!(
        git(&team.server(), &["for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"]),
        "refs/heads/main"
    );
}

#[tokio::test]
async fn a_project_in_a_subfolder_a_worktree_or_a_partial_clone_does_as_well() {
    let team = Team::new();
    let clone = team.clone_of(&team.url(), "partial", &["--filter=blob:none", "--depth=1"]);
    git(&team.server(), &["config", "uploadpack.allowFilter", "true"]);
    let project = clone.join("brand/app");
    fs::create_dir_all(&project).expect("a folder");
    let before = seen(&clone);
    let store = GitStore::new(&project, None, "prod");
    fill(&store, &["a", "b"]).await;
    git(&clone, &["worktree", "add", "-q", "--detach", "../tree"]);
    let tree = GitStore::new(&team.path().join("tree"), None, "prod");
    create(&tree, 3, "c").await.expect("from a worktree");
    git(&clone, &["worktree", "remove", "../tree"]);
    let fresh = team.clone_of(&team.url(), "partial-2", &["--filter=blob:none"]);
    assert_eq!(read(&GitStore::new(&fresh, None, "prod")).await.len(), 3);
    let settled = |seen: Vec<String>| seen.into_iter().filter(|line| !line.contains("/worktrees")).collect::<Vec<_>>();
    assert_eq!(settled(seen(&clone)), settled(before));
}

#[tokio::test]
async fn a_project_in_no_repository_has_one_of_its_own_for_this() {
    let team = Team::new();
    let folder = tempfile::tempdir().expect("a folder");
    let store = GitStore::new(folder.path(), Some(&team.url()), "prod");
    assert_eq!(read(&store).await, []);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "reading makes nothing");
    fill(&store, &["a", "checkpoint", "b"]).await;
    let own = folder.path().join(".pushplan/git");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&own).expect("a folder").permissions());
        assert_eq!(mode & 0o777, 0o700);
    }
    assert_eq!(fs::read_to_string(folder.path().join(".pushplan/.gitignore")).expect("a file"), "*\n");
    let fresh = tempfile::tempdir().expect("a folder");
    let fresh = GitStore::new(fresh.path(), Some(&team.url()), "prod");
    assert_eq!(read(&fresh).await, [stored(2, "checkpoint"), stored(3, "b")]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_does_not_lead_elsewhere() {
    let team = Team::new();
    let (folder, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(".pushplan")).expect("a link");
    let store = GitStore::new(folder.path(), Some(&team.url()), "prod");
    assert!(create(&store, 1, "a").await.is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 0);
}
