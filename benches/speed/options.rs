//! How much is measured.

use std::str::FromStr;

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many resources the projects have, the smallest first. Ratios are of the last but one, growth is up to the last.
    pub sizes: Vec<usize>,
    pub rounds: usize,
    /// Whether the script and octoDNS are measured.
    pub peers: bool,
    /// How many seeds of the simulation a round lives through.
    pub seeds: u64,
    /// Whether a target that is missed fails the run.
    pub judged: bool,
    /// A part of a run proves nothing: it leaves the committed results alone.
    pub whole: bool,
}

pub const USAGE: &str = "\
cargo bench --bench speed [-- OPTIONS]

  --quick             small projects, one round, no peers, no target that fails: to see that it works
  --sizes 100,1000    how many resources the projects have
  --rounds 7          how often everything is measured
  --seeds 5000        how many seeds of the simulation a round lives through
  --no-peers          leave the hand-written script and octoDNS out
  --serve 10000       measure nothing: keep such a project and its service for a profiler, until the standard input ends
  --serve-empty 10000 the same with a service that has nothing of it, and the commands that make it: apply, and the wire";

impl Default for Options {
    fn default() -> Self {
        Self {
            sizes: vec![100, 1_000, 10_000, 100_000],
            rounds: 5,
            peers: true,
            seeds: 20_000,
            judged: true,
            whole: true,
        }
    }
}

impl Options {
    /// `Err` says what cannot be understood.
    pub fn read(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` takes a value"));
            match argument.as_str() {
                // cargo says it to every benchmark.
                "--bench" => continue,
                "--quick" => {
                    let sizes = vec![90, 900];
                    options = Self { sizes, rounds: 1, peers: false, seeds: 2_000, judged: false, whole: false };
                }
                "--sizes" => {
                    options.sizes = value()?.split(',').map(number).collect::<Result<_, _>>()?;
                    options.sizes.sort_unstable();
                    options.sizes.dedup();
                }
                "--rounds" => options.rounds = number(&value()?)?,
                "--seeds" => options.seeds = number(&value()?)?,
                "--no-peers" => options.peers = false,
                _ => return Err(format!("`{argument}` is unknown key")),
            }
            options.whole = false;
        }
        match options.sizes.first() {
            Some(smallest) if *smallest >= 9 && options.rounds > 0 => Ok(options),
            _ => Err("it takes a round, and projects of at least 9 resources".to_owned()),
        }
    }

    /// The size whose ratios are compared with targets.
    pub fn middle(&self) -> usize {
        self.sizes[self.sizes.len().saturating_sub(2)]
    }

    pub fn largest(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.replace('_', "").parse().map_err(|_| format!("`{text}` is no number"))
}
