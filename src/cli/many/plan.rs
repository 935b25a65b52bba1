//! Plans for several targets.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::{Asked, Became, Does, each, worst};
use crate::address::is_key;
use crate::cli::forms::{Format, Forms};
use crate::cli::plan::write;
use crate::cli::planning::{Planned, Site, Wish, unreadable};
use crate::cli::target::Shared;
use crate::cli::{Context, Ended, ledger, runtime};
use crate::failure::{Exit, Failure};
use crate::guard::{Guard, guards};
use crate::render::many::{self, Said, Several};
use crate::render::plan::Ahead;
use crate::render::{Again, Style};
use crate::text;

/// What the file of a saved plan is called behind the name of its target.
pub const SAVED: &str = ".plan";

/// Makes a plan for each target, several at a time. The plans are no more than looked at.
pub fn make(sites: &[Arc<Site>], wish: &Wish, context: &Context) -> Result<Vec<Became<Planned>>, Failure> {
    for site in sites {
        if let Some(words) = ledger::pending(&site.log.kept().map_err(unreadable)?) {
            context.out.note(&words);
        }
    }
    let (wish, context) = (Arc::new(wish.clone()), Arc::new(context.clone()));
    Ok(runtime()?.block_on(each(Shared::default(), sites, move |site, opened| {
        let (wish, context) = (wish.clone(), context.clone());
        async move { site.plan(&opened, &wish, &context).await }
    })))
}

/// What is said of all of them.
pub fn told(all: &[Became<Planned>], asked: &Asked, does: &Does, saved: Option<&Path>) -> Vec<(String, Ahead)> {
    let ahead = |one: &Became<Planned>| {
        let (choice, refused) = match &one.ended {
            Ok(planned) => (planned.plan.choice.clone(), guards(&planned.plan, &one.site.limits())),
            Err(_) => Default::default(),
        };
        let again = does.again_for(asked, &one.site.target, &choice);
        let saved = saved.map(|folder| folder.join(format!("{}{SAVED}", one.site.target)).display().to_string());
        (one.site.target.clone(), Ahead { again, saved, refused })
    };
    all.iter().map(ahead).collect()
}

/// The same as it is shown.
pub fn several<'p>(all: &'p [Became<Planned>], aheads: &'p [(String, Ahead)], again: &'p Again) -> Several<'p> {
    let said = all.iter().zip(aheads).map(|(one, (target, ahead))| {
        let said = match &one.ended {
            Ok(planned) => Said::Planned(&planned.plan, ahead),
            Err(failure) => Said::Failed(failure),
        };
        (target.as_str(), said)
    });
    Several::new(said.collect(), again)
}

/// Makes plans, saves them where that is asked for, and shows them.
pub fn run(asked: &Asked, wish: &Wish, does: &Does, forms: &Forms, detailed: bool, context: &Context) -> Ended {
    of_one_page(forms)?;
    let programs = forms.printed() == Some(Format::Json);
    let sites = asked.read(context, jiff::Timestamp::now(), programs)?;
    present(&make(&sites, wish, context)?, asked, wish, does, forms, detailed, context)
}

/// Refuses pages, which are about one target.
pub fn of_one_page(forms: &Forms) -> Result<(), Failure> {
    match forms.shown.iter().any(|(format, _)| *format == Format::Html) {
        true => Err(Failure::usage("a page is about one target")
            .help("make one for each: pushplan plan --target NAME --format html --out NAME.html")),
        false => Ok(()),
    }
}

/// Saves plans where that is asked for, and shows them.
pub fn present(
    all: &[Became<Planned>],
    asked: &Asked,
    wish: &Wish,
    does: &Does,
    forms: &Forms,
    detailed: bool,
    context: &Context,
) -> Ended {
    if let Some(folder) = &forms.saved {
        save(folder, all)?;
    }
    let aheads = told(all, asked, does, forms.saved.as_deref());
    let again = does.again(asked, &wish.choice);
    let several = several(all, &aheads, &again);
    for (format, file) in &forms.shown {
        show(&several, *format, file.as_deref(), context)?;
    }
    Ok(worst(all.iter().zip(&aheads).map(|(one, (_, ahead))| exit(one, ahead, detailed))))
}

fn exit(one: &Became<Planned>, ahead: &Ahead, detailed: bool) -> Exit {
    match &one.ended {
        Err(failure) => failure.exit,
        Ok(_) if ahead.refused.iter().any(|refused| refused.guard == Guard::Drift) => Exit::Refused,
        Ok(planned) if detailed && !planned.plan.is_empty() => Exit::Changes,
        Ok(_) => Exit::Done,
    }
}

fn show(several: &Several, format: Format, file: Option<&Path>, context: &Context) -> Result<(), Failure> {
    let out = &context.out;
    let style = if file.is_some() { Style::PLAIN } else { out.style() };
    let text = match format {
        Format::Json => many::json::json(several),
        Format::Markdown => many::markdown::markdown(several),
        Format::Text | Format::Html => many::text::text(several, style),
    };
    match (file, format) {
        (Some(path), _) => {
            write(path, &text)?;
            out.note(&format!("Wrote {}", path.display()));
        }
        (None, Format::Json) => out.json(&text),
        (None, _) => out.print(&text),
    }
    Ok(())
}

/// Saves each plan in a file of its own. Of a target that could not be planned there is none, also none of an earlier run.
fn save(folder: &Path, all: &[Became<Planned>]) -> Result<(), Failure> {
    let shown = folder.display();
    if folder.is_file() {
        return Err(Failure::usage(format!("{shown} is a file, and there is a plan for each of several targets"))
            .help("name a folder: --out DIR; it gets a file for each target"));
    }
    if let Some(one) = all.iter().find(|one| !is_key(&one.site.target)) {
        let name = text::short(&one.site.target, 60);
        return Err(Failure::usage(format!("no file can have the name of the target `{name}`"))
            .help("save its plan by itself: pushplan plan --target NAME --out FILE"));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::new(format!("{shown} cannot be made: {error}")))?;
    for one in all {
        let path = folder.join(format!("{}{SAVED}", one.site.target));
        match &one.ended {
            Ok(planned) => write(&path, &planned.plan.save())?,
            Err(_) => drop(fs::remove_file(&path)),
        }
    }
    Ok(())
}
