use clap::Args;
use jiff::Timestamp;

use super::planning::TargetArgs;
use super::{Context, Ended, ledger, runtime};
use crate::compare;
use crate::engine::workspace::PlanRequest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::Change;
use crate::render;
use crate::text;

/// Compare a resource in your files, live and as last applied.
///
/// A field that differs is shown with its value in your files, on the service and in the ledger.
#[derive(Debug, Args)]
pub struct Show {
    /// A resource, such as segments/lapsed-buyers
    #[arg(value_name = "ADDRESS")]
    address: String,

    #[command(flatten)]
    place: TargetArgs,
}

impl Show {
    pub fn run(&self, context: &Context) -> Ended {
        let address = ledger::address_at(&self.address, &self.place)?;
        let workspace = self.place.read(context, Timestamp::now())?;
        let planned = runtime()?.block_on(async {
            let opened = workspace.open().await?;
            let planned = workspace.plan(&opened, &PlanRequest::default(), &context.session).await;
            opened.close().await;
            planned
        })?;
        let is_it = |change: &&Change| change.address == address || change.address.resource() == address;
        let mut changes: Vec<Change> = planned.plan.changes.iter().filter(is_it).cloned().collect();
        // A plan treats ignored fields as unchanged; this shows the content of the files.
        let declared = compare::by_key(&workspace.units, &planned.ledger);
        for change in &mut changes {
            change.desired = declared.get(&change.address).map(|unit| unit.spec.clone());
        }
        if changes.is_empty() {
            let known: Vec<String> = planned.plan.changes.iter().map(|change| change.address.to_string()).collect();
            let failure = Failure::usage(format!("{address} is neither declared nor managed"));
            return Err(match text::nearest(&self.address, known.iter().map(String::as_str)) {
                Some(near) => failure.help(format!("did you mean {near}?")),
                None => failure.help(
                    "write an address such as segments/lapsed-buyers; `pushplan graph` lists all declared \
                        resources",
                ),
            });
        }
        let style = context.out.style();
        let text = render::sides::text(&changes.iter().collect::<Vec<_>>(), style);
        context.out.print(&context.out.said(&text, None));
        Ok(Exit::Done)
    }
}
