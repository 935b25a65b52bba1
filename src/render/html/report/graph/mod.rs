//! The graph of dependencies: changed resources and their neighbours.

mod layout;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use maud::{Markup, html};

use super::{PageReport, top};
use crate::address::Address;
use crate::kinds;
use crate::plan::{Action, Reason};
use crate::render::graph::Graph;
use crate::render::one_line;
use crate::render::plan::PlanView;
use crate::text::{count, short};
use layout::{Layout, NodePosition, layout};

/// The number of resources that are drawn.
const DRAWN: usize = 40;
/// The number of characters of a key that are drawn.
const KEY: usize = 26;
/// Heights and distances, in pixels.
const ROW: f64 = 56.0;
const BOX: f64 = 44.0;
const GAP: f64 = 48.0;
const EDGE: f64 = 6.0;
const TIP: f64 = 8.0;
const NARROWEST: f64 = 110.0;

/// The part of the references that is drawn.
pub struct Drawn {
    nodes: Vec<(Address, Action)>,
    edges: Vec<(usize, usize)>,
    /// The number of changed resources with references, and their neighbours.
    all: usize,
}

impl Drawn {
    /// Selects the resources to draw: changed ones by risk, each with its neighbours, up to the limit.
    pub fn of(view: &PlanView) -> Self {
        let graph = Graph::of_plan(view.plan);
        let mut near: BTreeMap<&Address, BTreeSet<&Address>> = BTreeMap::new();
        for (from, to) in graph.edges().iter().filter(|(from, to)| from != to) {
            near.entry(from).or_default().insert(to);
            near.entry(to).or_default().insert(from);
        }
        let mut wanted: Vec<&Address> = Vec::new();
        let mut seen: BTreeSet<&Address> = BTreeSet::new();
        for block in view.blocks.iter().chain(&view.drift) {
            let Some((address, others)) = near.get_key_value(&block.address) else { continue };
            for one in std::iter::once(address).chain(others) {
                if seen.insert(one) {
                    wanted.push(one);
                }
            }
        }
        let all = wanted.len();
        wanted.truncate(DRAWN);
        let chosen: BTreeSet<&Address> = wanted.into_iter().collect();
        let number: BTreeMap<&Address, usize> = chosen.iter().enumerate().map(|(at, it)| (*it, at)).collect();
        let edges = graph.edges().iter().filter(|(from, to)| from != to);
        Self {
            edges: edges.filter_map(|(from, to)| Some((*number.get(from)?, *number.get(to)?))).collect(),
            nodes: chosen.into_iter().map(|address| (address.clone(), graph.nodes()[address])).collect(),
            all,
        }
    }
}

impl PageReport<'_> {
    pub(super) fn has_graph(&self) -> bool {
        !self.drawn.edges.is_empty()
    }

    pub(super) fn graph(&self) -> Markup {
        let drawn = &self.drawn;
        if drawn.edges.is_empty() {
            return html! {};
        }
        let cut = drawn.all.saturating_sub(drawn.nodes.len());
        html! {
            section #graph {
                h2 { "Dependencies" }
                p {
                    "Changes and their dependencies. Dashed: a reference that is updated to a new id."
                    @if cut > 0 { " " (drawn.nodes.len()) " of " (count(drawn.all, "resource")) " are shown, the \
                        riskiest first." }
                }
                div.picture tabindex="0" role="region" aria-label="Dependencies" { (self.picture(drawn)) }
                details {
                    summary { "As text" }
                    ul.rows {
                        @for (from, to) in &drawn.edges {
                            li { (self.link(&drawn.nodes[*from].0)) " refers to " (self.link(&drawn.nodes[*to].0)) }
                        }
                    }
                }
            }
        }
    }

    fn picture(&self, drawn: &Drawn) -> Markup {
        let found = layout(drawn.nodes.len(), &drawn.edges);
        let mut size = Size { wide: vec![NARROWEST; found.columns] };
        for ((address, action), place) in drawn.nodes.iter().zip(&found.nodes) {
            let key = label(&address.key).chars().count() as f64 * 7.6;
            let kind = kind(address, *action).chars().count() as f64 * 6.3;
            let column = &mut size.wide[place.column];
            *column = column.max((key.max(kind) + 24.0).round());
        }
        let (width, height) = size.whole(&found);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
                @for ((from, to), way) in drawn.edges.iter().zip(&found.ways) {
                    path.edge.renewed[self.is_renewed(&drawn.nodes[*from].0, &drawn.nodes[*to].0)] d=(size.way(way)) {}
                    path.tip d=(size.tip(way)) {}
                }
                @for ((address, action), place) in drawn.nodes.iter().zip(&found.nodes) {
                    (self.node(address, *action, &size, *place))
                }
            }
        }
    }

    fn node(&self, address: &Address, action: Action, size: &Size, place: NodePosition) -> Markup {
        let (x, y) = (size.left(place), size.top(place));
        let shown = html! {
            title { (one_line(&address.to_string())) }
            rect x=(x) y=(y) width=(size.wide[place.column]) height=(BOX) rx="8" {}
            text.kind x=(x + 12.0) y=(y + 17.0) { (kind(address, action)) }
            text.key x=(x + 12.0) y=(y + 34.0) { (label(&address.key)) }
        };
        let class = format!("node {}", top::mood(action));
        html! {
            @match self.numbers.get(address) {
                Some(number) => a class=(class) href=(format!("#change-{number}")) { (shown) },
                None => g class=(class) { (shown) },
            }
        }
    }

    /// Whether the resource that is referred to gets a new id.
    fn is_renewed(&self, from: &Address, to: &Address) -> bool {
        let points = |reason: &Reason| matches!(reason, Reason::Repoint { to: all, .. } if all.contains(to));
        self.view
            .users_of(to)
            .iter()
            .any(|change| change.address.resource() == *from && change.reasons.iter().any(points))
    }
}

/// The kind of a resource, and its action.
fn kind(address: &Address, action: Action) -> String {
    let noun = kinds::of(address).noun;
    match action {
        Action::Keep => noun.to_owned(),
        action => format!("{} {noun}, {}", action.symbol(), action.word()),
    }
}

fn label(key: &str) -> String {
    short(&one_line(key), KEY)
}

/// Converts positions to pixels: the width of each column.
struct Size {
    wide: Vec<f64>,
}

impl Size {
    fn left(&self, place: NodePosition) -> f64 {
        EDGE + self.wide[..place.column].iter().map(|wide| wide + GAP).sum::<f64>()
    }

    fn right(&self, place: NodePosition) -> f64 {
        self.left(place) + self.wide[place.column]
    }

    fn top(&self, place: NodePosition) -> f64 {
        (EDGE + place.row * ROW).round()
    }

    fn middle(&self, place: NodePosition) -> f64 {
        self.top(place) + BOX / 2.0
    }

    fn whole(&self, layout: &Layout) -> (f64, f64) {
        let gaps = self.wide.len().saturating_sub(1) as f64 * GAP;
        let wide = 2.0 * EDGE + self.wide.iter().sum::<f64>() + gaps;
        (wide, (2.0 * EDGE + (layout.rows - 1.0) * ROW + BOX).round())
    }

    /// A curve from the right side of one box to the left side of another, through the points between.
    fn way(&self, way: &[NodePosition]) -> String {
        let mut path = String::new();
        let Some((first, rest)) = way.split_first() else { return path };
        let (mut x, mut y) = (self.right(*first), self.middle(*first));
        let _ = write!(path, "M{x} {y}");
        for (number, place) in rest.iter().enumerate() {
            let (to, down) = (self.left(*place), self.middle(*place));
            let is_last = number + 1 == rest.len();
            let end = if is_last { to - TIP } else { to };
            let _ = write!(path, " C{} {y} {} {down} {end} {down}", x + GAP / 2.0, to - GAP / 2.0);
            (x, y) = (end, down);
            if !is_last {
                x = self.right(*place);
                let _ = write!(path, " H{x}");
            }
        }
        path
    }

    /// The head of an arrow.
    fn tip(&self, way: &[NodePosition]) -> String {
        let Some(last) = way.last() else { return String::new() };
        let (x, y) = (self.left(*last), self.middle(*last));
        format!("M{} {} L{x} {y} L{} {} Z", x - TIP, y - 4.5, x - TIP, y + 4.5)
    }
}
