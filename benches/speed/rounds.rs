//! Everything, measured in turns, round by round: a busy moment of the machine hits all alike.

use std::collections::BTreeMap;
use std::path::Path;

use crate::applying::Applying;
use crate::options::Options;
use crate::peers::Peers;
use crate::program::{timed, watched};
use crate::project::Layout;
use crate::report::{Sample, ratios};
use crate::shown::{self, Shown};
use crate::simulate;
use crate::sites::{Asked, Site};
use crate::startup::Startup;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    Plan,
    Floor,
    Validate,
    Events,
    ScriptPlan,
    OctoDns,
    Apply,
    Wire,
    ScriptApply,
    Empty,
    Version,
    ValidateOne,
    Planning,
    Form(usize),
}

impl Work {
    pub fn words(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Floor => "floor",
            Self::Validate => "validate",
            Self::Events => "events",
            Self::ScriptPlan => "script, plan",
            Self::OctoDns => "octoDNS",
            Self::Apply => "apply",
            Self::Wire => "wire",
            Self::ScriptApply => "script, apply",
            Self::Empty => "an empty program",
            Self::Version => "--version",
            Self::ValidateOne => "validate, one file",
            Self::Planning => "planning",
            Self::Form(number) => shown::FORMS[number].0,
        }
    }
}

/// What is timed, with how many resources, in how many files.
pub type Place = (Work, usize, Layout);

/// All that was measured.
#[derive(Default)]
pub struct Measured {
    /// Seconds, one for each round.
    pub times: BTreeMap<Place, Vec<f64>>,
    /// The most bytes that a plan of the largest project had, one for each round.
    pub peaks: BTreeMap<Layout, Vec<f64>>,
    /// Seeds of the simulation for each second and core.
    pub seeds: Vec<f64>,
    /// What the lists of each size are.
    pub asked: BTreeMap<usize, Asked>,
    /// Bytes of YAML and of the lists of the largest project.
    pub bytes: BTreeMap<Layout, f64>,
}

impl Measured {
    fn add(&mut self, work: Work, resources: usize, layout: Layout, seconds: f64) {
        self.times.entry((work, resources, layout)).or_default().push(seconds);
    }

    pub fn of(&self, work: Work, resources: usize, layout: Layout) -> Option<&[f64]> {
        self.times.get(&(work, resources, layout)).map(Vec::as_slice)
    }

    pub fn sample(&self, work: Work, resources: usize, layout: Layout) -> Option<Sample> {
        self.of(work, resources, layout).map(|times| Sample::new(times.to_vec()))
    }

    /// One by the other, round by round.
    pub fn ratio(&self, above: Place, below: Place) -> Option<Sample> {
        Some(ratios(self.times.get(&above)?, self.times.get(&below)?))
    }
}

/// What is measured, made ready.
pub struct Prepared<'p> {
    pub options: &'p Options,
    pub sites: &'p [Site],
    pub applying: Applying,
    pub startup: Startup,
    pub shown: Shown,
    pub peers: Option<Peers>,
}

impl<'p> Prepared<'p> {
    pub fn new(folder: &Path, options: &'p Options, sites: &'p [Site], peers: Option<Peers>) -> Self {
        let middle = options.middle();
        if let Some(peers) = &peers {
            peers.write_zone(middle);
        }
        Self {
            options,
            sites,
            applying: Applying::prepare(folder, middle),
            startup: Startup::prepare(folder),
            shown: Shown::prepare(folder, middle),
            peers,
        }
    }

    /// Measures everything once more.
    pub fn round(&self, number: usize, measured: &mut Measured) {
        let (middle, one) = (self.options.middle(), Layout::One);
        let started = self.startup.round();
        measured.add(Work::Empty, 0, one, started.empty);
        measured.add(Work::Version, 0, one, started.version);
        measured.add(Work::ValidateOne, 0, one, started.validate);
        for site in self.sites {
            self.look(site, measured);
        }
        measured.add(Work::Wire, middle, one, self.applying.wire());
        measured.add(Work::Apply, middle, one, self.applying.apply());
        if let Some(peers) = &self.peers {
            measured.add(Work::ScriptApply, middle, one, self.applying.script(peers));
            let octodns = timed(&mut peers.octodns()).well("octoDNS");
            assert!(format!("{}{}", octodns.said, octodns.complained).contains("No changes were planned"), "octoDNS");
            measured.add(Work::OctoDns, middle, one, octodns.seconds);
        }
        let times = self.shown.round();
        measured.add(Work::Planning, middle, one, times.planning);
        for (form, seconds) in times.forms.into_iter().enumerate() {
            measured.add(Work::Form(form), middle, one, seconds);
        }
        measured.seeds.push(simulate::rate(number as u64 * self.options.seeds, self.options.seeds));
    }

    /// Plans and validates one project.
    fn look(&self, site: &Site, measured: &mut Measured) {
        let Site { resources, layout, .. } = *site;
        let (floor, asked) = site.floored(timed(&mut site.floor()));
        measured.add(Work::Floor, resources, layout, floor);
        measured.asked.insert(resources, asked);
        let (ran, peak) = watched(&mut site.plan());
        measured.add(Work::Plan, resources, layout, site.planned(ran).seconds);
        if resources == self.options.largest() {
            measured.peaks.entry(layout).or_default().extend(peak.map(|bytes| bytes as f64));
            measured.bytes.insert(layout, (site.bytes + asked.bytes) as f64);
        }
        if resources == self.options.middle()
            && let Some(peers) = &self.peers
        {
            let script = timed(&mut site.command(peers.script(&site.messages(), false))).well("the script");
            measured.add(
                Work::ScriptPlan,
                resources,
                layout,
                script.saying_only("the script", "0 differences").seconds,
            );
        }
        let events = timed(&mut site.events()).well("the events");
        assert!(events.said.trim().parse::<usize>().is_ok_and(|events| events > resources), "events");
        measured.add(Work::Events, resources, layout, events.seconds);
        measured.add(Work::Validate, resources, layout, timed(&mut site.validate()).well("validate").seconds);
    }
}
