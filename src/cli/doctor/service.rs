//! The service of a target: credentials, reachability and clock.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::{Inspection, variable};
use crate::client::{Clients, Credentials, Origin, Patience, Transport, Whole, refusal};
use crate::engine::local::BuiltIn;
use crate::engine::target::{CLOCKS, check_fingerprint, is_built_in};
use crate::engine::{local, target};
use crate::exchange::{Loss, Meaning, Request, http_date};
use crate::failure::{Failure, FailureKind};
use crate::manifest::{PROJECT_FILE, Target};
use crate::nouns::delay::Delay;
use crate::render::doctor::Check;
use crate::service::VENDOR;

/// The path of the request: a list that every service has.
const PATH: &str = "/api/segments?limit=1";

/// The accuracy of a date in a header, which has whole seconds and takes a moment to arrive.
const EXACT: SignedDuration = SignedDuration::from_secs(2);

/// The results, and the application of the credentials.
#[derive(Debug, Default)]
pub struct Looked {
    pub checks: Vec<Check>,
    pub app: Option<String>,
}

pub async fn look(inspection: &Inspection, name: &str) -> Looked {
    let Some(target) = inspection.project.target(name) else { return Looked::default() };
    if is_built_in(name, target) {
        return Looked { checks: built_in(inspection, name).await, app: None };
    }
    let Some(base_url) = &target.base_url else {
        let failure = Failure::new("the target has no base_url").kind(FailureKind::Invalid);
        return Looked { checks: vec![Check::trouble("service", &failure.help(target::no_service()))], app: None };
    };
    let origin = match Origin::parse(base_url) {
        Ok(origin) => origin,
        Err(why) => {
            let failure = Failure::new(format!("the base_url is wrong: {why}")).kind(FailureKind::Invalid);
            let failure = failure.help(format!("correct it in {PROJECT_FILE}"));
            return Looked { checks: vec![Check::trouble("service", &failure)], app: None };
        }
    };
    let env = |name: &str| variable(name);
    let mut looked = Looked::default();
    let credentials = match inspection.keyring.locate(&origin, name, &env) {
        Err(failure) => {
            looked.checks.push(Check::trouble("credentials", &failure));
            None
        }
        Ok((credentials, from)) => {
            let app = credentials.fingerprint();
            looked.checks.push(match check_fingerprint(name, target, &credentials) {
                Ok(()) => Check::fine("credentials", format!("for {origin} from {from}; application {app}")),
                Err(failure) => Check::trouble("credentials", &failure),
            });
            looked.app = Some(app);
            Some(credentials)
        }
    };
    looked.checks.extend(asked(inspection, target, &origin, credentials.as_ref()).await);
    looked
}

/// Sends one request, also without credentials: a refusal shows that the service is reachable.
async fn asked(
    inspection: &Inspection,
    target: &Target,
    origin: &Origin,
    credentials: Option<&Credentials>,
) -> Vec<Check> {
    let patience = Patience { connect: inspection.within, whole: inspection.within };
    let vendor = target.vendor.as_ref().map_or(VENDOR, |vendor| vendor.as_str());
    let sharing = |own: &Credentials| Transport::sharing(&Clients::default(), origin.clone(), own, vendor, patience);
    let began = (Timestamp::now(), Instant::now());
    let answered = match credentials.map(sharing) {
        None => Transport::anonymous(origin.clone(), patience).send_whole(&Request::get(PATH), || true).await,
        Some(Ok(transport)) => transport.send_whole(&Request::get(PATH), || true).await,
        Some(Err(why)) => Err(Loss::NotSent(why.to_string())),
    };
    let took = began.1.elapsed();
    let whole = match answered {
        Ok(whole) => whole,
        Err(Loss::NotSent(why) | Loss::Unknown(why)) => {
            let help =
                "check the address, the network, a proxy (HTTPS_PROXY, NO_PROXY) and certificates (SSL_CERT_FILE)";
            return vec![Check::trouble("service", &Failure::new(why).help(help))];
        }
    };
    let service = match (&whole.answer, credentials) {
        (answer, None) if matches!(answer.status, 401 | 403) => {
            Check::fine("service", format!("{origin} answers, and requires credentials"))
        }
        (answer, Some(_)) if refusal(origin, answer).is_some() => refusal(origin, answer)
            .map_or_else(|| Check::fine("service", ""), |refused| Check::trouble("service", &refused)),
        (answer, _) if answer.meaning() == Meaning::Done => {
            Check::fine("service", format!("{origin} answers, in {} ms", took.as_millis()))
        }
        (answer, _) => {
            let failure = Failure::new(format!("{origin} answers GET {PATH} with {}", answer.error()));
            Check::trouble("service", &failure.help("check that the messaging service runs there"))
        }
    };
    let half = SignedDuration::try_from(took / 2).unwrap_or_default();
    let here = began.0.checked_add(half).unwrap_or(began.0);
    [Some(service), clock(&whole, here)].into_iter().flatten().collect()
}

/// Compares this machine's clock with the service's.
fn clock(whole: &Whole, here: Timestamp) -> Option<Check> {
    let said = whole.headers.iter().find(|(name, _)| name == "date").map(|(_, said)| said.as_str());
    let Some(there) = said.and_then(http_date) else {
        return Some(Check::fine("clock", "the service does not send its time"));
    };
    let ahead = here.duration_since(there);
    let by = about(ahead);
    if ahead.abs() <= EXACT {
        return Some(Check::fine("clock", "this machine and the service have the same time"));
    }
    let way = if ahead.is_positive() { "ahead of" } else { "behind" };
    let says = format!("the clock of this machine is {by} {way} the service's");
    let help = "set the clock of this machine, by NTP for example";
    Some(if ahead.abs() <= CLOCKS {
        Check::fine("clock", format!("{says}, which is harmless"))
    } else {
        let why = "online plans use the service's clock, but offline plans and the ledger's times use this machine's";
        Check::warning("clock", format!("{says}: {why}"), help)
    })
}

/// The difference of two clocks, rounded to minutes if it is large.
fn about(apart: SignedDuration) -> Delay {
    let seconds = apart.abs().as_secs();
    Delay(if seconds < 120 { seconds } else { (seconds + 30) / 60 * 60 })
}

/// Checks the built-in service of the project. It is not started for this, because that would write files.
async fn built_in(inspection: &Inspection, name: &str) -> Vec<Check> {
    let service = BuiltIn::new(&inspection.root, name);
    let found = match tokio::time::timeout(inspection.within, local::find(service)).await {
        Ok(found) => found,
        Err(_) => Err(target::too_slow(inspection.within)),
    };
    match found {
        Err(failure) => vec![Check::trouble("service", &failure)],
        Ok(Some((origin, _, there))) => {
            let ahead = there.duration_since(Timestamp::now());
            let service = Check::fine("service", format!("built in; `{}` runs on {origin}", service.serve_command()));
            let clock = (ahead.abs() > CLOCKS).then(|| {
                let way = if ahead.is_positive() { "ahead" } else { "behind" };
                Check::fine("clock", format!("its own, {} {way}", about(ahead)))
            });
            [Some(service), clock].into_iter().flatten().collect()
        }
        Ok(None) => {
            let words = match service.has_data() {
                true => format!("built in; each command starts it, with its data in {}", service.data()),
                false => "built in; it has no data yet".to_owned(),
            };
            vec![Check::fine("service", words)]
        }
    }
}
