//! The positions of a graph's nodes: in columns, so that arrows lead to the right and few of them cross.

use std::collections::{BTreeMap, BTreeSet};

/// The number of passes that sort columns by their neighbours and move them towards the neighbours.
const SWEEPS: usize = 12;

/// Positions of nodes and routes of arrows. A position is a column, and a height in rows.
#[derive(Debug, PartialEq)]
pub struct Layout {
    pub nodes: Vec<NodePosition>,
    /// For each arrow the positions that it passes, including its ends.
    pub ways: Vec<Vec<NodePosition>>,
    pub columns: usize,
    pub rows: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodePosition {
    pub column: usize,
    pub row: f64,
}

/// Lays out a graph with this number of nodes. The same graph always has the same layout.
pub fn layout(number: usize, edges: &[(usize, usize)]) -> Layout {
    let columns = columns(number, edges);
    let mut knots = Knots::new(&columns);
    let ways: Vec<Vec<usize>> = edges.iter().map(|(from, to)| knots.way(*from, *to)).collect();
    knots.sort();
    let rows = knots.settle();
    let place = |knot: &usize| NodePosition { column: knots.column[*knot], row: rows[*knot] };
    Layout {
        nodes: (0..number).map(|node| place(&node)).collect(),
        ways: ways.iter().map(|way| way.iter().map(place).collect()).collect(),
        columns: columns.iter().max().map_or(0, |last| last + 1),
        rows: rows.iter().fold(0.0, |most, row| row.max(most)) + 1.0,
    }
}

/// The column of each node: as far to the right as possible while everything it points at is further right. Nodes in a
/// cycle are in the last column.
fn columns(number: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut waits = vec![0; number];
    let mut pointed: Vec<Vec<usize>> = vec![Vec::new(); number];
    for (from, to) in edges {
        waits[*from] += 1;
        pointed[*to].push(*from);
    }
    let mut depth = vec![0; number];
    let mut ready: BTreeSet<usize> = (0..number).filter(|node| waits[*node] == 0).collect();
    while let Some(node) = ready.pop_first() {
        for user in &pointed[node] {
            depth[*user] = depth[*user].max(depth[node] + 1);
            waits[*user] -= 1;
            if waits[*user] == 0 {
                ready.insert(*user);
            }
        }
    }
    let circle = |node: usize| waits[node] > 0;
    let deepest = (0..number).filter(|node| !circle(*node)).map(|node| depth[node]).max().unwrap_or(0);
    (0..number).map(|node| if circle(node) { deepest } else { deepest - depth[node] }).collect()
}

/// Nodes, and the points that long arrows pass in the columns between.
struct Knots {
    column: Vec<usize>,
    /// By column, from top to bottom.
    order: Vec<Vec<usize>>,
    before: BTreeMap<usize, Vec<usize>>,
    after: BTreeMap<usize, Vec<usize>>,
}

impl Knots {
    fn new(columns: &[usize]) -> Self {
        let mut order = vec![Vec::new(); columns.iter().max().map_or(0, |last| last + 1)];
        for (node, column) in columns.iter().enumerate() {
            order[*column].push(node);
        }
        Self { column: columns.to_vec(), order, before: BTreeMap::new(), after: BTreeMap::new() }
    }

    /// The route of an arrow, with a knot in each column between its ends.
    fn way(&mut self, from: usize, to: usize) -> Vec<usize> {
        let mut way = vec![from];
        for column in self.column[from] + 1..self.column[to] {
            let knot = self.column.len();
            self.column.push(column);
            self.order[column].push(knot);
            way.push(knot);
        }
        way.push(to);
        for pair in way.windows(2).filter(|pair| self.column[pair[0]] < self.column[pair[1]]) {
            self.after.entry(pair[0]).or_default().push(pair[1]);
            self.before.entry(pair[1]).or_default().push(pair[0]);
        }
        way
    }

    /// Sorts each column by the positions of its neighbours, alternating left to right and right to left.
    fn sort(&mut self) {
        for sweep in 0..SWEEPS {
            let forth = sweep % 2 == 0;
            let last = self.order.len();
            for step in 1..last {
                let column = if forth { step } else { last - 1 - step };
                let other = if forth { column - 1 } else { column + 1 };
                let place: BTreeMap<usize, usize> =
                    self.order[other].iter().enumerate().map(|(at, knot)| (*knot, at)).collect();
                let near = if forth { &self.before } else { &self.after };
                let wish = |at: usize, knot: usize| {
                    let near: Vec<usize> = near.get(&knot).into_iter().flatten().map(|it| place[it]).collect();
                    if near.is_empty() { at as f64 } else { near.iter().sum::<usize>() as f64 / near.len() as f64 }
                };
                let mut wishes: Vec<(f64, usize)> =
                    self.order[column].iter().enumerate().map(|(at, knot)| (wish(at, *knot), *knot)).collect();
                wishes.sort_by(|one, other| one.0.total_cmp(&other.0));
                self.order[column] = wishes.into_iter().map(|(_, knot)| knot).collect();
            }
        }
    }

    /// The height of each knot: near its neighbours, at least one row beneath the one above it.
    fn settle(&self) -> Vec<f64> {
        let mut rows = vec![0.0; self.column.len()];
        for column in &self.order {
            for (at, knot) in column.iter().enumerate() {
                rows[*knot] = at as f64;
            }
        }
        for sweep in 0..SWEEPS {
            let forth: Vec<&Vec<usize>> = self.order.iter().collect();
            let back: Vec<&Vec<usize>> = self.order.iter().rev().collect();
            for column in if sweep % 2 == 0 { forth } else { back } {
                let wish = |knot: &usize| {
                    let near = |sides: &BTreeMap<usize, Vec<usize>>| sides.get(knot).cloned().unwrap_or_default();
                    let near: Vec<usize> = near(&self.before).into_iter().chain(near(&self.after)).collect();
                    if near.is_empty() {
                        return rows[*knot];
                    }
                    near.iter().map(|it| rows[*it]).sum::<f64>() / near.len() as f64
                };
                let wishes: Vec<f64> = column.iter().map(wish).collect();
                for (knot, row) in column.iter().zip(spread(&wishes)) {
                    rows[*knot] = row;
                }
            }
        }
        let top = rows.iter().fold(f64::INFINITY, |least, row| row.min(least));
        rows.iter().map(|row| row - top).collect()
    }
}

/// Heights as near as possible to the wished ones, with at least one row between neighbours.
fn spread(wishes: &[f64]) -> Vec<f64> {
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (at, wish) in wishes.iter().enumerate() {
        let mut group = (wish - at as f64, 1);
        while let Some((sum, size)) = groups.pop() {
            if sum / size as f64 <= group.0 / group.1 as f64 {
                groups.push((sum, size));
                break;
            }
            group = (sum + group.0, size + group.1);
        }
        groups.push(group);
    }
    let flat = groups.iter().flat_map(|(sum, size)| std::iter::repeat_n(sum / *size as f64, *size));
    flat.enumerate().map(|(at, row)| row + at as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn who_points_stands_left_of_what_is_pointed_at() {
        // A push and a test refer to a segment that refers to another one; the push also refers to the second one.
        let found = layout(4, &[(0, 2), (1, 2), (2, 3), (0, 3)]);
        let columns: Vec<usize> = found.nodes.iter().map(|place| place.column).collect();
        assert_eq!(columns, [0, 0, 1, 2]);
        assert_eq!(found.ways[3].len(), 3, "a long arrow passes the column between: {:?}", found.ways[3]);
    }

    #[test]
    fn arrows_that_need_not_cross_do_not_cross() {
        let found = layout(6, &[(0, 5), (1, 4), (2, 3)]);
        let row = |node: usize| found.nodes[node].row;
        for (one, other) in [((0, 5), (1, 4)), ((1, 4), (2, 3)), ((0, 5), (2, 3))] {
            assert_eq!(row(one.0) < row(other.0), row(one.1) < row(other.1));
        }
    }

    #[test]
    fn nodes_in_a_circle_have_places_too() {
        assert_eq!(layout(3, &[(0, 1), (1, 2), (2, 1)]).nodes.len(), 3);
    }

    proptest! {
        #[test]
        fn nodes_never_lie_on_each_other(edges in proptest::collection::btree_set((0..12usize, 0..12usize), 0..30)) {
            let edges: Vec<(usize, usize)> = edges.into_iter().filter(|(from, to)| from != to).collect();
            let found = layout(12, &edges);
            for (at, one) in found.nodes.iter().enumerate() {
                prop_assert!(one.row >= 0.0 && one.row < found.rows && one.column < found.columns);
                for other in &found.nodes[..at] {
                    prop_assert!(one.column != other.column || (one.row - other.row).abs() > 0.99);
                }
            }
            prop_assert_eq!(layout(12, &edges), found);
        }
    }
}
