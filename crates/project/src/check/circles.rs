//! Circles in a graph, in time linear in its size.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// A circle, for a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Circle {
    /// The named nodes of a shortest circle through the first node, in order.
    pub path: Vec<usize>,
    /// How many named nodes are in circles with these and not on the path.
    pub others: usize,
}

/// The circles of a graph, one for each set of connected circles, by their first node.
///
/// Only nodes below `named` count: the others connect them. `edges[n]` are the successors of `n`.
pub fn circles(edges: &[Vec<usize>], named: usize) -> Vec<Circle> {
    let mut found: Vec<Circle> = Vec::new();
    for component in components(edges) {
        let Some(first) = component.iter().copied().min().filter(|first| *first < named) else { continue };
        if component.len() == 1 && !edges[first].contains(&first) {
            continue;
        }
        let inside: HashSet<usize> = component.iter().copied().collect();
        let path: Vec<usize> = way_back(edges, first, &inside).into_iter().filter(|node| *node < named).collect();
        let members = component.iter().filter(|node| **node < named).count();
        found.push(Circle { others: members - path.len(), path });
    }
    found.sort_by_key(|circle| circle.path.first().copied());
    found
}

/// A shortest path from a node back to itself within its component, which begins with the node.
fn way_back(edges: &[Vec<usize>], first: usize, inside: &HashSet<usize>) -> Vec<usize> {
    let mut before: HashMap<usize, usize> = HashMap::new();
    let mut queue = VecDeque::from([first]);
    while let Some(node) = queue.pop_front() {
        for next in edges[node].iter().copied().filter(|next| inside.contains(next)) {
            if next == first {
                let mut path = vec![node];
                let mut at = node;
                while at != first {
                    at = before[&at];
                    path.push(at);
                }
                path.reverse();
                return path;
            }
            if let Entry::Vacant(entry) = before.entry(next) {
                entry.insert(node);
                queue.push_back(next);
            }
        }
    }
    vec![first]
}

/// The strongly connected components. Kosaraju's algorithm needs no recursion: a chain of ten thousand nodes must not
/// overflow the stack.
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut graph = DiGraph::<(), (), usize>::default();
    let nodes: Vec<_> = edges.iter().map(|_| graph.add_node(())).collect();
    for (from, tos) in edges.iter().enumerate() {
        for to in tos {
            graph.add_edge(nodes[from], nodes[*to], ());
        }
    }
    let found = kosaraju_scc(&graph);
    found.into_iter().map(|component| component.into_iter().map(NodeIndex::index).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(path: &[usize], others: usize) -> Circle {
        Circle { path: path.to_vec(), others }
    }

    #[test]
    fn a_chain_has_no_circle() {
        assert_eq!(circles(&[vec![1], vec![2], vec![]], 3), []);
    }

    #[test]
    fn a_node_that_leads_to_itself_is_a_circle() {
        assert_eq!(circles(&[vec![0], vec![0]], 2), [circle(&[0], 0)]);
    }

    #[test]
    fn the_shortest_circle_is_shown_and_the_rest_is_counted() {
        // 0 -> 1 -> 2 -> 3 -> 0, and the shortcut 1 -> 0.
        assert_eq!(circles(&[vec![1], vec![2, 0], vec![3], vec![0]], 4), [circle(&[0, 1], 2)]);
    }

    #[test]
    fn nodes_in_between_are_left_out() {
        // 0 -> (3) -> 1 -> (4) -> 0; 2 -> (3).
        assert_eq!(circles(&[vec![3], vec![4], vec![3], vec![1], vec![0]], 3), [circle(&[0, 1], 0)]);
    }

    #[test]
    fn circles_apart_are_told_apart_and_a_long_one_does_not_end_the_stack() {
        let length = 200_000;
        let mut edges: Vec<Vec<usize>> = (0..length).map(|node| vec![(node + 1) % length]).collect();
        edges.push(vec![length]);
        let found = circles(&edges, length + 1);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].path, (0..length).collect::<Vec<_>>());
        assert_eq!(found[1], circle(&[length], 0));
    }
}
