//! Running a command for each of several targets, with combined output.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::tell_failed;
use crate::cli::places::{Places, SeveralTargets, Which};
use crate::cli::planning::TargetArgs;
use crate::cli::{Context, Ended, asking};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::many::each::{self, TargetText};
use crate::render::{Format, Style};

/// The number of targets that are processed at a time.
const TOGETHER: usize = 8;

/// Runs a command for the requested targets. For one, it prints as usual; for several, the outputs are combined in the
/// order of their names.
pub fn run(
    places: &Places,
    format: Format,
    context: &Context,
    one: impl Fn(&TargetArgs, &Context) -> Ended + Sync,
) -> Ended {
    match places.which()? {
        Which::One(place) => one(&place, context),
        Which::Several(asked) => {
            let all =
                each_of(&names(&asked, context)?, TOGETHER, context, |name, context| one(&asked.place(name), context));
            show(&all, format, context)
        }
    }
}

/// Runs a command like [`run`], and returns its output and its exit code.
pub fn text_of(
    places: &Places,
    format: Format,
    context: &Context,
    one: impl Fn(&TargetArgs, &Context) -> Ended + Sync,
) -> Result<(String, Exit), Failure> {
    match places.which()? {
        Which::One(place) => {
            let kept = Context { out: context.out.keeping(), ..context.clone() };
            let exit = one(&place, &kept)?;
            Ok((kept.out.kept(), exit))
        }
        Which::Several(asked) => {
            let all =
                each_of(&names(&asked, context)?, TOGETHER, context, |name, context| one(&asked.place(name), context));
            Ok((each::text_of(&all, format, Style::PLAIN), end(&all, context)))
        }
    }
}

/// Runs a command that changes something for one target after the other, and stops after a failure.
pub fn in_turn(places: &Places, context: &Context, one: impl Fn(&TargetArgs, &Context) -> Ended) -> Ended {
    match places.which()? {
        Which::One(place) => one(&place, context),
        Which::Several(asked) => {
            let mut all = Vec::new();
            for name in names(&asked, context)? {
                let out = context.out.of_target(&name);
                let ended = one(&asked.place(&name), &Context { out: out.clone(), ..context.clone() });
                let failed = ended.is_err();
                all.push(TargetText { target: name, text: out.kept(), ended });
                if failed {
                    break;
                }
            }
            show(&all, Format::Text, context)
        }
    }
}

/// The names of the targets, if the project file has no errors.
fn names(asked: &SeveralTargets, context: &Context) -> Result<Vec<String>, Failure> {
    asking::project(&asked.place(""), "done", context)?;
    let names = asked.targets()?;
    match names.is_empty() {
        true => Err(Failure::new("the project has no targets").help("add [targets.<name>] to pushplan.toml")),
        false => Ok(names),
    }
}

/// Runs a function for each target, several at a time.
fn each_of(
    names: &[String],
    together: usize,
    context: &Context,
    one: impl Fn(&str, &Context) -> Ended + Sync,
) -> Vec<TargetText> {
    let waiting: Mutex<VecDeque<(usize, &String)>> = Mutex::new(names.iter().enumerate().collect());
    let ended: Mutex<Vec<(usize, TargetText)>> = Mutex::default();
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        for _ in 0..together.min(names.len()) {
            scope.spawn(|| {
                while let Some((at, name)) = next() {
                    let out = context.out.of_target(name);
                    let result = one(name, &Context { out: out.clone(), ..context.clone() });
                    let text = TargetText { target: name.clone(), text: out.kept(), ended: result };
                    ended.lock().unwrap_or_else(PoisonError::into_inner).push((at, text));
                }
            });
        }
    });
    let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    ended.sort_by_key(|(at, _)| *at);
    ended.into_iter().map(|(_, text)| text).collect()
}

fn show(all: &[TargetText], format: Format, context: &Context) -> Ended {
    let out = &context.out;
    let text = each::text_of(all, format, out.style());
    out.show(format, &text);
    Ok(end(all, context))
}

/// Reports the failed targets, and returns the exit code.
pub fn end(all: &[TargetText], context: &Context) -> Exit {
    tell_failed(all.iter().filter_map(|one| Some((one.target.as_str(), one.ended.as_ref().err()?))), context);
    Exit::worst(all.iter().map(|one| match &one.ended {
        Ok(exit) => *exit,
        Err(failure) => failure.into(),
    }))
}
