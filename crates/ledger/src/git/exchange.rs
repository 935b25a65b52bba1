//! Network operations: list what the server has, fetch what is missing, and push.

use std::collections::BTreeMap;

use pushplan_io::git::Silent;

use super::home::Home;
use super::objects::Tip;
use super::remote::Refs;
use super::told::Trouble;

/// The refs of all ledgers that the other end has, each with its commit.
#[derive(Debug)]
pub struct Listing(BTreeMap<String, String>);

impl Listing {
    /// What it has of one target.
    pub fn there(&self, refs: &Refs) -> There {
        let commit = |name: &str| self.0.get(name).cloned();
        let mark = [refs.mark(), refs.earlier_mark()].into_iter();
        let mark = mark.filter_map(|name| Some(Mark { commit: commit(&name)?, name })).next();
        let histories = refs.histories();
        let has_history =
            self.0.range(histories.clone()..).next().is_some_and(|(name, _)| name.starts_with(&histories));
        There { tip: commit(&refs.tip), has_history, mark }
    }

    /// The records of all targets: the name of each ref, and its commit.
    pub fn tips(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter().map(|(name, commit)| (name.as_str(), commit.as_str()));
        all.filter(|(name, _)| Refs::target_of(name) != *name)
    }
}

/// What the server has of one target.
#[derive(Debug, Default)]
pub struct There {
    pub tip: Option<String>,
    /// Whether it has the records before a checkpoint.
    pub has_history: bool,
    /// The newest commit that the records ever had.
    pub mark: Option<Mark>,
}

/// A ref next to the records.
#[derive(Clone, Debug)]
pub struct Mark {
    pub name: String,
    pub commit: String,
}

/// A ref to move to a commit.
#[derive(Debug)]
pub struct Move<'a> {
    pub name: &'a str,
    pub from: Origin<'a>,
    pub to: &'a str,
}

/// The position that a ref must have before it moves.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// At this commit; with `None`, it must not exist.
    At(Option<&'a str>),
    /// Anywhere, or missing.
    Anywhere,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    Done,
    /// The ref is not at the expected commit.
    Stale,
    /// The server refused, and changed nothing.
    Refused(String),
    /// Another process is writing the ref: nothing was changed, and a retry may succeed.
    Busy(String),
    /// Nothing was sent.
    Unsent(Trouble),
    /// The server cannot move several refs at once, and changed nothing.
    NotAtOnce,
    /// The answer was lost: the refs may have moved, or may still move.
    Lost(Trouble),
}

impl Home {
    /// Returns what the server has now.
    pub async fn list(&self) -> Result<Listing, Trouble> {
        let ran = self.git.run(&["ls-remote", "--quiet", "--", &self.remote, &Refs::every()], b"").await?;
        if !ran.is_ok {
            return Err(Trouble::of(&ran.err));
        }
        let told = String::from_utf8_lossy(&ran.out);
        let refs = told.lines().filter_map(|line| line.split_once('\t'));
        // Patterns match the ends of other names too.
        let own = refs.filter(|(_, name)| name.starts_with(Refs::BEGINNING));
        Ok(Listing(own.map(|(id, name)| (name.to_owned(), id.to_owned())).collect()))
    }

    /// Fetches refs: only their objects, so nothing of the user's changes. With commits that are here already, little comes.
    pub async fn fetch(&self, names: &[&str], here: &[&str]) -> Result<(), Trouble> {
        let known: Vec<String> = here.iter().map(|commit| format!("--negotiation-tip={commit}")).collect();
        // Without any part of the ledger here, telling the server about other commits is useless.
        let mut args = if known.is_empty() { vec!["-c", "fetch.negotiationAlgorithm=noop"] } else { Vec::new() };
        args.extend([
            "fetch",
            "--quiet",
            "--no-write-fetch-head",
            "--no-tags",
            "--no-auto-gc",
            "--no-prune",
            "--no-filter",
        ]);
        args.extend(["--no-recurse-submodules", "--no-write-commit-graph", "--no-show-forced-updates", "--refmap="]);
        args.extend(known.iter().map(String::as_str));
        args.extend(["--", &self.remote]);
        args.extend(names);
        let ran = self.git.run(&args, b"").await?;
        if ran.is_ok { Ok(()) } else { Err(Trouble::of(&ran.err)) }
    }

    /// Notes what was seen on the server. Without the note, the next fetch is larger, without other harm.
    pub async fn note(&self, tip: &Tip) {
        let _ = self.git.run(&["update-ref", "--no-deref", &self.seen, &tip.commit], b"").await;
    }

    /// Moves refs on the server, all or none, if each of them is still at the expected commit. The first one decides
    /// the result.
    pub async fn push(&self, moves: &[Move<'_>]) -> Pushed {
        self.push_sets(&[moves]).await.pop().unwrap_or(Pushed::Done)
    }

    /// Moves sets of refs there, all or none, and answers for each set.
    pub async fn push_sets(&self, sets: &[&[Move<'_>]]) -> Vec<Pushed> {
        let moves = || sets.iter().flat_map(|set| set.iter());
        let mut args: Vec<String> =
            ["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"].map(String::from).into();
        args.push("--no-recurse-submodules".to_owned());
        if moves().count() > 1 {
            args.push("--atomic".to_owned());
        }
        for Move { name, from, .. } in moves() {
            if let Origin::At(from) = from {
                args.push(format!("--force-with-lease={name}:{}", from.unwrap_or_default()));
            }
        }
        args.extend(["--".to_owned(), self.remote.clone()]);
        args.extend(moves().map(|Move { name, from, to }| match from {
            Origin::At(_) => format!("{to}:{name}"),
            Origin::Anywhere => format!("+{to}:{name}"),
        }));
        let same = |pushed: Pushed| vec![pushed; sets.len()];
        match self.git.run(&args.iter().map(String::as_str).collect::<Vec<_>>(), b"").await {
            Ok(ran) => {
                let out = String::from_utf8_lossy(&ran.out);
                let of_set = |set: &&[Move<'_>]| {
                    let results: Vec<_> = set.iter().map(|each| result(&out, each.name)).collect();
                    pushed(ran.is_ok, &results, &ran.err)
                };
                sets.iter().map(of_set).collect()
            }
            Err(silent @ Silent::NotStarted(_)) => same(Pushed::Unsent(silent.into())),
            Err(silent) => same(Pushed::Lost(silent.into())),
        }
    }
}

/// Returns the sign and the summary that git prints for a ref.
fn result<'a>(out: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    out.lines().find_map(|line| {
        let mut parts = line.split('\t');
        let (sign, names, summary) = (parts.next()?, parts.next()?, parts.next()?);
        names.ends_with(&format!(":{name}")).then_some((sign, summary))
    })
}

/// Returns the result of a push, by what git prints for its refs.
fn pushed(is_ok: bool, results: &[Option<(&str, &str)>], err: &str) -> Pushed {
    let is_done = |result: &Option<(&str, &str)>| result.is_some_and(|(sign, _)| sign != "!");
    if is_ok && results.iter().all(is_done) {
        return Pushed::Done;
    }
    let why = match results.first() {
        Some(Some(("!", summary))) => *summary,
        _ if err.contains("does not support --atomic") => return Pushed::NotAtOnce,
        _ if Trouble::is_unsent(err) => return Pushed::Unsent(Trouble::of(err)),
        _ => return Pushed::Lost(Trouble::of(err)),
    };
    let has = |signs: &[&str]| signs.iter().any(|sign| why.to_lowercase().contains(sign));
    if has(&["stale info"]) {
        Pushed::Stale
    } else if has(&["remote failure", "failed to report", "server error", "timeout", "timed out"]) {
        Pushed::Lost(Trouble::new(&format!("the server says: {why}")))
    } else if has(&[
        "lock",
        "failed to update ref",
        "transaction failed",
        "incorrect old value",
        "reference already exists",
    ]) {
        Pushed::Busy(format!("the server says: {why}"))
    } else {
        let said =
            err.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim).filter(|line| !line.is_empty());
        let said: String = said.collect::<Vec<_>>().join("; ").chars().take(300).collect();
        let said = if said.is_empty() { said } else { format!(" ({said})") };
        Pushed::Refused(format!("the server says: {why}{said}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_the_ref_decides() {
        let name = "refs/pushplan/prod";
        let of = |is_ok, line: &str, err: &str| {
            let out = format!("To origin\n{line}\nDone\n");
            pushed(is_ok, &[result(&out, name)], err)
        };
        assert_eq!(of(true, "*\tab:refs/pushplan/prod\t[new reference]", ""), Pushed::Done);
        assert_eq!(of(true, "=\tab:refs/pushplan/prod\t[up to date]", ""), Pushed::Done);
        assert_eq!(of(false, "!\tab:refs/pushplan/prod\t[rejected] (stale info)", ""), Pushed::Stale);
        let line = "!\tab:refs/pushplan/prod\t[remote rejected] (pre-receive hook declined)";
        let refused = of(false, line, "remote: no pushes on Sundays\nerror: failed to push some refs");
        assert_eq!(
            refused,
            Pushed::Refused(
                "the server says: [remote rejected] (pre-receive hook declined) (no pushes on Sundays)".into()
            )
        );
        let line = "!\tab:refs/pushplan/prod\t[remote failure] (remote failed to report status)";
        assert!(matches!(of(false, line, ""), Pushed::Lost(_)));
        let line = "!\tab:refs/pushplan/prod\t[remote rejected] (cannot lock ref)";
        assert!(matches!(of(false, line, ""), Pushed::Busy(_)));
        assert!(matches!(of(true, "", ""), Pushed::Lost(_)), "an answer without a word is none");
        assert!(matches!(of(false, "", "fatal: the remote end hung up unexpectedly"), Pushed::Lost(_)));
        assert!(matches!(of(false, "", "fatal: unable to connect to h.example"), Pushed::Unsent(_)));
        let others = of(true, "*\tab:refs/pushplan/prod-2\t[new reference]", "");
        assert!(matches!(others, Pushed::Lost(_)), "{others:?}");
    }
}
