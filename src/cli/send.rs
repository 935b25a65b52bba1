use std::io::{self, IsTerminal};

use clap::Args;

use super::message::{self, Source};
use super::planning::TargetArgs;
use super::signals::Stop;
use super::{Context, Ended, asking, ledger, runtime};
use crate::address::Address;
use crate::client::refusal;
use crate::engine::ledger::unreadable;
use crate::engine::target::{self, Opened};
use crate::exchange::{Answer, Loss, Meaning, Request};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::kinds::{Parts, ReadableText};
use crate::ledger::{Ledger, Log};
use crate::live::Pages;
use crate::look::{self, Spoken, Values};
use crate::manifest::{PROJECT_FILE, Target};
use crate::node::At;
use crate::nouns::audience::ChannelKey;
use crate::nouns::recipient::Recipient;
use crate::plan::Choice;
use crate::render::preview::Preview;
use crate::render::{self, Repetition};
use crate::source::Span;
use crate::test_send::{self, Reached, RecipientDevice, Search};
use crate::text;

/// Send a message to one test recipient now.
///
/// The message is sent as it is declared; it need not be applied. It is shown first, and goes to that recipient alone, never to
/// a segment, a tag or `all`. It is sent once: if the answer is lost, an error says so, and nothing is sent again.
///
/// The built-in service always allows this. Any other target needs `test_sends = true` or `test_recipients =
/// ["named_user:qa-*"]` in pushplan.toml.
#[derive(Debug, Args)]
pub struct SendCommand {
    /// Resource with a message, such as templates/winback
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// Recipient: named_user:ID, ios_channel:ID, android_channel:ID, amazon_channel:ID, channel:ID or
    /// open_channel:ADDRESS
    #[arg(long, value_name = "RECIPIENT")]
    to: String,

    /// Value for a variable of the template, as `--set` of `preview` [default: the value in the push, or the default of the template]
    #[arg(long, value_name = "KEY=VALUE", value_parser = message::pair)]
    with: Vec<(String, String)>,

    /// Number of the variant or the outcome, if there are several
    #[arg(long, value_name = "NUMBER")]
    variant: Option<usize>,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    place: TargetArgs,
}

/// The maximal number of pages of channels in the search for an address.
const MOST_PAGES: usize = 1_000;

/// The message for a test that is ended at once.
const AT_ONCE: &str = "Ended at once. The message may have been sent: check the device before you send it again.";

/// A message that is about to be sent.
struct Test<'t> {
    recipient: &'t Recipient,
    target: &'t str,
    said: ReadableText<'t>,
    values: Values,
    preview: Preview<'t>,
    again: Repetition,
}

impl SendCommand {
    pub fn run(&self, context: &Context) -> Ended {
        let address = ledger::address_at(&self.address, &self.place)?;
        let recipient = Recipient::parse(&self.to).map_err(|no| Failure::usage(no.message).help(no.help))?;
        asking::project(&self.place, "sent", context)?;
        let source = Source::read(&self.place, true)?;
        let project = &source.manifests.project;
        let (name, target) = target::choose(project, self.place.target())?;
        allowed(&name, target, &recipient)?;
        let message = source.message(&address, context)?;
        let Spoken { said, mut values } = self.chosen(&address, &message.parts, &source)?;
        values.extend(self.with.iter().cloned());
        let app = source.app();
        let place = message.place;
        let preview = Preview { address: &address, place, app: &app, open: false, reach: None, seen: Vec::new() };
        let again = self.place.again("send", &Choice::default());
        let test = Test { recipient: &recipient, target: &name, said, values, preview, again };
        let content = test_send::content(&test.said, &test.values);
        filled(&address, &test_send::unfilled(&content))?;
        runtime()?.block_on(async {
            let opened = target::open(project, Some(&name)).await?;
            let ended = self.test(test, content, &opened, context).await;
            opened.close().await;
            ended
        })
    }

    /// The selected message, with the values of its push.
    fn chosen<'s>(&self, address: &Address, parts: &Parts<'s>, source: &'s Source) -> Result<Spoken<'s>, Failure> {
        let mut spoken = look::as_written(parts, &source.desired);
        let (number, each) = (spoken.len(), parts.each);
        let place = match (self.variant, number) {
            (None, 1) => 0,
            (None, _) => {
                return Err(Failure::usage(format!("{address} has {}", text::count(number, each))).help(
                    match number {
                        2 => "pass --variant 1 or --variant 2".to_owned(),
                        number => format!("pass --variant N, from 1 to {number}"),
                    },
                ));
            }
            (Some(chosen), _) if (1..=number).contains(&chosen) => chosen - 1,
            (Some(chosen), _) => {
                let failure = Failure::usage(format!("{address} has no {each} {chosen}"));
                return Err(match number {
                    1 => failure.help("it has one: omit --variant"),
                    _ => failure.help(format!("it has {}", text::count(number, each))),
                });
            }
        };
        let set: Values = self.with.iter().cloned().collect();
        message::check_keys(address, &set, &spoken[place..=place], "--with")?;
        Ok(spoken.swap_remove(place))
    }

    async fn test(
        &self,
        mut test: Test<'_>,
        content: serde_json::Map<String, serde_json::Value>,
        opened: &Opened,
        context: &Context,
    ) -> Ended {
        let found = self.look_up(test.recipient, opened).await?;
        let goes_to = test.said.devices.map(|devices| &devices.value);
        let reached = Reached::of(test.recipient, found, goes_to);
        let view = render::test_send::TestSendView {
            recipient: test.recipient,
            reached: &reached,
            target: test.target,
            origin: opened.origin().to_string(),
        };
        if reached.devices.is_empty() {
            return Err(nobody(&view));
        }
        let types = At::new(reached.types(), Span::NONE);
        let said = ReadableText { devices: Some(&types), ..test.said };
        test.preview.seen = vec![look::seen(&said, &test.values)];
        let style = context.out.style();
        context.out.print(&view.before(&test.preview, style));
        self.ask(context)?;
        let request = test_send::request(content, test.recipient, &types, opened.level);
        let _stop = Stop::listen(AT_ONCE).map_err(|error| Failure::new(error.to_string()))?;
        let answered = opened.writing().send(&request, || true).await;
        let push_ids = sent(opened, &request, answered)?;
        context.out.print(&view.sent(&push_ids, &test.again));
        Ok(Exit::Done)
    }

    /// The devices of the recipient, according to the service.
    async fn look_up(&self, recipient: &Recipient, opened: &Opened) -> Result<Vec<RecipientDevice>, Failure> {
        let ledger = match recipient.channel {
            // Only the ledger may have its id.
            Some(ChannelKey::Open) => Ledger::replay(self.place.log()?.0.read(0).await.map_err(unreadable)?),
            _ => Ledger::default(),
        };
        match test_send::search(recipient, &ledger) {
            Search::Lookup(request) => {
                let answer = get(opened, &request).await?;
                let body = answer.body.as_ref().filter(|_| answer.meaning() == Meaning::Done);
                Ok(body.map(|body| test_send::devices(recipient, body)).unwrap_or_default())
            }
            Search::Listing(mut request) => {
                let (mut found, mut pages) = (Vec::new(), Pages::default());
                let origin = opened.origin().to_string();
                for _ in 0..MOST_PAGES {
                    let body = get(opened, &request).await?.body.unwrap_or_default();
                    found.extend(test_send::devices(recipient, &body));
                    let next = pages.next(&origin, &request.path, &body).map_err(Failure::new)?;
                    let Some(next) = next else { return Ok(found) };
                    request = Request::get(next);
                }
                Err(Failure::new(format!("{recipient} is not among the first {MOST_PAGES} pages of channels"))
                    .help("declare it under `open_channels:` and apply: then pushplan has its id"))
            }
        }
    }

    fn ask(&self, context: &Context) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        if !io::stdin().is_terminal() {
            return Err(Failure::new("this message needs a confirmation, but standard input is not a terminal")
                .kind(FailureKind::Refused)
                .help("nothing was sent; pass --yes to send it"));
        }
        let mut answer = String::new();
        context.out.ask("Send this? Type `yes` to continue:");
        let _ = io::stdin().read_line(&mut answer);
        if answer.trim() == "yes" {
            return Ok(());
        }
        Err(Failure::new("nothing was sent").kind(FailureKind::Refused).help("type `yes` to continue"))
    }
}

/// Checks that the target allows a test to a recipient. The built-in service messages no real device, so it always
/// does.
fn allowed(name: &str, target: &Target, recipient: &Recipient) -> Result<(), Failure> {
    if target::is_built_in(name, target) {
        return Ok(());
    }
    let table = format!("[targets.{name}] in {PROJECT_FILE}");
    match (target.may_test(recipient), &target.test_recipients) {
        (Some(true), _) => Ok(()),
        (Some(false), Some(all)) if target.test_sends.as_ref().is_none_or(|sends| sends.value) => {
            let patterns: Vec<&str> = all.iter().map(|pattern| pattern.as_str()).collect();
            let who = if patterns.is_empty() { "nobody".to_owned() } else { text::all_of(&patterns) };
            let message = format!(
                "the target `{name}` allows test messages only to {who}, not to {recipient}: \
                nothing was sent"
            );
            Err(Failure::new(message)
                .kind(FailureKind::Refused)
                .help(format!("add the recipient to test_recipients of {table}")))
        }
        _ => Err(Failure::new(format!("the target `{name}` does not allow test messages: nothing was sent"))
            .kind(FailureKind::Refused)
            .help(format!(
                "allow this recipient with test_recipients = [\"{recipient}\"] under {table}, or all recipients with \
                    test_sends = true"
            ))),
    }
}

/// Refuses a message in which recipients would see braces.
fn filled(address: &Address, unfilled: &[String]) -> Result<(), Failure> {
    let Some(first) = unfilled.first() else { return Ok(()) };
    let names: Vec<String> = unfilled.iter().map(|key| format!("{{{{{key}}}}}")).collect();
    let has = if names.len() == 1 { "has" } else { "have" };
    let message = format!(
        "{} of {address} {has} no value, so recipients would see the braces: nothing was sent",
        text::all_of(&names)
    );
    Err(Failure::new(message)
        .kind(FailureKind::Refused)
        .help(format!("set a value with --with {}", text::shell_word(&format!("{first}=VALUE")))))
}

/// The failure if no device would get the message.
fn nobody(view: &render::test_send::TestSendView) -> Failure {
    let (message, help) = view.nobody();
    Failure::new(message).kind(FailureKind::Refused).help(help)
}

/// Sends a reading request.
async fn get(opened: &Opened, request: &Request) -> Result<Answer, Failure> {
    let answered = opened.reading().read(request).await;
    let answer = answered.map_err(|(Loss::NotSent(why) | Loss::Unknown(why))| {
        Failure::new(format!("{request} failed: {why}")).help("nothing was sent; try again")
    })?;
    if let Some(refused) = refusal(opened.origin(), &answer) {
        return Err(refused);
    }
    match answer.meaning() {
        Meaning::Done | Meaning::Missing => Ok(answer),
        _ => Err(Failure::new(format!("{request} failed: {}", answer.error())).help("nothing was sent; try again")),
    }
}

/// The ids of the pushes, if it was certainly sent. It is never sent again, because a lost answer leaves the result
/// unknown.
fn sent(opened: &Opened, request: &Request, answered: Result<Answer, Loss>) -> Result<Vec<String>, Failure> {
    let not = |why: &str| Failure::new(format!("{request} failed: {why}")).help("nothing was sent");
    let answer = match answered {
        Ok(answer) => answer,
        Err(Loss::NotSent(why)) => return Err(not(&why)),
        Err(Loss::Unknown(why)) => return Err(perhaps(&why)),
    };
    if let Some(refused) = refusal(opened.origin(), &answer) {
        return Err(refused);
    }
    match answer.meaning() {
        Meaning::Done => {
            // The contract has one id in the answer, the live service a list.
            let body = answer.body.as_ref();
            let listed = body.and_then(|body| body["push_ids"].as_array()).into_iter().flatten();
            let one = body.map(|body| &body["push_id"]).filter(|_| listed.clone().next().is_none());
            Ok(listed.chain(one).filter_map(|id| id.as_str().map(str::to_owned)).collect())
        }
        Meaning::Refused | Meaning::Missing => Err(not(&answer.error())),
        Meaning::Busy => {
            Err(not("the service limits the rate of requests (HTTP 429)").help("nothing was sent; try again later"))
        }
        Meaning::Unknown => Err(perhaps(&answer.error())),
    }
}

fn perhaps(why: &str) -> Failure {
    Failure::new(format!("the message may have been sent: {why}"))
        .kind(FailureKind::Partial)
        .help("it was not sent again; check the device before you send it again")
}
