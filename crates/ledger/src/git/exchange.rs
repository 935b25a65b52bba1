//! Network operations: list what the server has, fetch what is missing, and push.

use pushplan_io::git::Silent;

use super::home::Home;
use super::objects::Tip;
use super::remote::Refs;
use super::told::Trouble;

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
    pub async fn there(&self, refs: &Refs) -> Result<There, Trouble> {
        let histories = refs.histories();
        let (mark, earlier) = (refs.mark(), refs.earlier_mark());
        let args = ["ls-remote", "--quiet", "--", &self.remote, &refs.tip, &mark, &earlier, &format!("{histories}*")];
        let ran = self.git.run(&args, b"").await?;
        if !ran.is_ok {
            return Err(Trouble::of(&ran.err));
        }
        let mut there = There::default();
        for line in String::from_utf8_lossy(&ran.out).lines() {
            let Some((id, name)) = line.split_once('\t') else { continue };
            // Patterns match the ends of other names too.
            if name == refs.tip {
                there.tip = Some(id.to_owned());
            } else if name == mark {
                there.mark = Some(Mark { name: mark.clone(), commit: id.to_owned() });
            } else if name == earlier {
                there.mark.get_or_insert_with(|| Mark { name: earlier.clone(), commit: id.to_owned() });
            } else if name.starts_with(&histories) {
                there.has_history = true;
            }
        }
        Ok(there)
    }

    /// Returns the refs of all targets on the server, each with its commit.
    pub(crate) async fn all_there(&self) -> Result<Vec<(String, String)>, Trouble> {
        let ran = self.git.run(&["ls-remote", "--quiet", "--", &self.remote, &Refs::every()], b"").await?;
        if !ran.is_ok {
            return Err(Trouble::of(&ran.err));
        }
        let told = String::from_utf8_lossy(&ran.out);
        let refs = told.lines().filter_map(|line| line.split_once('\t'));
        let own = refs.filter(|(_, name)| Refs::target_of(name) != *name);
        Ok(own.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
    }

    /// Fetches refs: only their objects, so nothing of the user's changes. Objects that `here` already has are not
    /// transferred.
    pub async fn fetch(&self, names: &[&str], here: Option<&str>) -> Result<(), Trouble> {
        let known = here.map(|commit| format!("--negotiation-tip={commit}"));
        // Without any part of the ledger here, telling the server about other commits is useless.
        let mut args = if known.is_some() { Vec::new() } else { vec!["-c", "fetch.negotiationAlgorithm=noop"] };
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
        args.extend(known.as_deref());
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
        let mut args: Vec<String> =
            ["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"].map(String::from).into();
        args.push("--no-recurse-submodules".to_owned());
        if moves.len() > 1 {
            args.push("--atomic".to_owned());
        }
        for Move { name, from, .. } in moves {
            if let Origin::At(from) = from {
                args.push(format!("--force-with-lease={name}:{}", from.unwrap_or_default()));
            }
        }
        args.extend(["--".to_owned(), self.remote.clone()]);
        args.extend(moves.iter().map(|Move { name, from, to }| match from {
            Origin::At(_) => format!("{to}:{name}"),
            Origin::Anywhere => format!("+{to}:{name}"),
        }));
        match self.git.run(&args.iter().map(String::as_str).collect::<Vec<_>>(), b"").await {
            Ok(ran) => {
                let out = String::from_utf8_lossy(&ran.out);
                let results: Vec<_> = moves.iter().map(|each| result(&out, each.name)).collect();
                pushed(ran.is_ok, &results, &ran.err)
            }
            Err(silent @ Silent::NotStarted(_)) => Pushed::Unsent(silent.into()),
            Err(silent) => Pushed::Lost(silent.into()),
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
