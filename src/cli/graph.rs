use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::planning::TargetArgs;
use super::{Context, Ended};
use crate::failure::Exit;
use crate::render::graph;

/// Print what refers to what.
#[derive(Debug, Args)]
pub struct Graph {
    /// DOT for Graphviz, or Mermaid for Markdown
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,

    #[command(flatten)]
    place: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Dot,
    Mermaid,
}

impl Graph {
    pub fn run(&self, context: &Context) -> Ended {
        let site = self.place.read(context, Timestamp::now())?;
        let (desired, _) = site.manifests.resolve(Some(&site.target));
        let graph = graph::Graph::of_desired(&desired);
        let text = match self.format {
            Format::Dot => graph.dot(),
            Format::Mermaid => graph.mermaid(),
        };
        context.out.exact(text.as_bytes());
        Ok(Exit::Done)
    }
}
