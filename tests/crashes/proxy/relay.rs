//! A relay between the program and the service, which applies the rules of a run.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pushplan_testing::wire::{self, Asked};
use rustix::process::{Pid, Signal, kill_process};

use super::faults::{self, Fault, Rule, When};

/// The maximal time in which a process starts, or ends after it was killed.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    service: u16,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    /// The running process, once it is known.
    pid: Option<Pid>,
    /// Requests that reach the service after the process has ended.
    late: Vec<Asked>,
    told: Vec<String>,
    /// Paths of the writes that had a fault.
    struck: Vec<String>,
    /// The number of prepared runs.
    runs: u64,
}

/// The requests of a run.
pub struct Traffic {
    /// Every write, and every request with a fault, with its result.
    pub told: Vec<String>,
    /// Paths of the writes that had a fault.
    pub struck: Vec<String>,
}

impl Proxy {
    pub fn new(service: u16) -> Self {
        let shared = Arc::new(Shared { service, state: Mutex::default(), changed: Condvar::new() });
        let own = Arc::clone(&shared);
        let port = wire::serve(move |asked| own.answer(asked));
        Self { port, shared }
    }

    /// Prepares for a run, and discards the state of the last one.
    pub fn prepare(&self, rules: Vec<Rule>) {
        let mut state = self.shared.lock();
        *state = State { rules, runs: state.runs + 1, ..State::default() };
    }

    pub fn started(&self, id: u32) {
        self.shared.lock().pid = i32::try_from(id).ok().and_then(Pid::from_raw);
        self.shared.changed.notify_all();
    }

    /// Reports that the process has ended: late requests arrive now.
    pub fn ended(&self) -> Traffic {
        let mut state = self.shared.lock();
        let next = State { runs: state.runs, ..State::default() };
        let State { late, mut told, struck, .. } = std::mem::replace(&mut *state, next);
        drop(state);
        self.shared.changed.notify_all();
        for asked in late {
            let said = wire::forward(self.shared.service, &asked);
            told.push(format!("{} arrives late -> {}", line(&asked), status(&said)));
        }
        Traffic { told, struck }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("sound")
    }

    /// The fault for a request. All rules count all requests of their kind.
    fn fault(&self, asked: &Asked) -> Option<Fault> {
        let mut state = self.lock();
        let mut hit = None;
        for rule in state.rules.iter_mut().filter(|rule| rule.on.is(asked)) {
            rule.seen += 1;
            if rule.seen == rule.nth && hit.is_none() {
                hit = Some(rule.fault);
            }
        }
        hit
    }

    fn answer(&self, asked: &Asked) -> Option<Vec<u8>> {
        let Some(fault) = self.fault(asked) else {
            let said = wire::forward(self.service, asked);
            if asked.method != "GET" {
                self.tell(format!("{} -> {}", line(asked), status(&said)));
            }
            return Some(said);
        };
        let forward = || wire::forward(self.service, asked);
        let after = |when: When| if when == When::After { Some(status(&forward())) } else { None };
        let (reached, said) = match fault {
            Fault::Reset(when) => (after(when), None),
            Fault::Late => {
                self.lock().late.push(asked.clone());
                (None, None)
            }
            Fault::Status(status, when) => (after(when), Some(faults::failure(status))),
            Fault::TooMany => (None, Some(faults::failure(429))),
            Fault::NotFound => (None, Some(faults::failure(404))),
            Fault::NotOk(when) => {
                let body = serde_json::json!({ "ok": false, "error": "something went wrong" });
                (after(when), Some(faults::answer("200 OK", &body)))
            }
            Fault::Garbage => {
                let page = wire::say("200 OK", "content-type: text/html\r\n", b"<html>Please log in</html>");
                (after(When::After), page)
            }
            Fault::Truncated => {
                let said = forward();
                let half = said.len() - (said.len() - head_length(&said)).div_ceil(2);
                (Some(status(&said)), Some(said[..half].to_vec()))
            }
            Fault::Slow => {
                std::thread::sleep(Duration::from_millis(300));
                let said = forward();
                (Some(status(&said)), Some(said))
            }
            Fault::Empty | Fault::Cut => {
                let said = forward();
                let shorter =
                    faults::list(asked).and_then(|(_, field)| faults::shortened(&said, field, fault == Fault::Empty));
                (Some(status(&said)), Some(shorter.unwrap_or(said)))
            }
            Fault::Kill(when) => (after(when), None),
        };
        let reached = reached.map_or("does not reach the service".to_owned(), |status| format!("-> {status}"));
        self.tell(format!("{} {reached}, and then: {fault:?}", line(asked)));
        if asked.method != "GET" {
            self.lock().struck.push(asked.target.clone());
        }
        if matches!(fault, Fault::Kill(_)) {
            self.kill();
        }
        said
    }

    fn tell(&self, line: String) {
        self.lock().told.push(line);
    }

    /// Kills the process, and returns when it is gone: it sees nothing of what happens to the connection.
    fn kill(&self) {
        let state = self.lock();
        let (state, _) = self.changed.wait_timeout_while(state, PATIENCE, |state| state.pid.is_none()).expect("sound");
        let Some(pid) = state.pid else { return };
        let run = state.runs;
        let _ = kill_process(pid, Signal::KILL);
        let is_there = |state: &mut State| state.runs == run && state.pid.is_some();
        drop(self.changed.wait_timeout_while(state, PATIENCE, is_there).expect("sound"));
    }
}

fn line(asked: &Asked) -> String {
    let mut body = String::from_utf8_lossy(&asked.body).into_owned();
    if body.len() > 300 {
        body = body.chars().take(300).chain(['…']).collect();
    }
    format!("{} {body}", asked.line())
}

fn status(said: &[u8]) -> String {
    String::from_utf8_lossy(&said[..said.len().min(40)]).split(' ').nth(1).unwrap_or("?").to_owned()
}

fn head_length(said: &[u8]) -> usize {
    said.windows(4).position(|end| end == b"\r\n\r\n").map_or(said.len(), |place| place + 4)
}
