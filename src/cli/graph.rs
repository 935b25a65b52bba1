use clap::Args;
use jiff::Timestamp;

use super::forms::among;
use super::planning::TargetArgs;
use super::{Context, Ended};
use crate::exit::Exit;
use crate::render::Format;
use crate::render::graph;

/// The output formats.
const FORMATS: &[Format] = &[Format::Dot, Format::Mermaid];

/// Print which resource refers to which.
#[derive(Debug, Args)]
pub struct Graph {
    /// DOT for Graphviz, or Mermaid for Markdown
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Dot)]
    format: Format,

    #[command(flatten)]
    place: TargetArgs,
}

impl Graph {
    pub fn run(&self, context: &Context) -> Ended {
        let workspace = self.place.read(context, Timestamp::now())?;
        let (desired, _) = workspace.manifests.resolve(Some(&workspace.target));
        let graph = graph::Graph::of_desired(&desired);
        let text = if self.format == Format::Mermaid { graph.mermaid() } else { graph.dot() };
        context.out.show(self.format, &text);
        Ok(Exit::Done)
    }
}
