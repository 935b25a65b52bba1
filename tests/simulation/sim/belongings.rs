//! Tags, channels and named users of the model service.

use pushplan::exchange::{Answer, Method};
use pushplan::ledger::Verb;
use serde_json::{Map, Value, json};

use super::service::{Sender, Service, as_of, error};

impl Service {
    /// Tags, channels and named users: changes to them can be repeated.
    pub(super) fn belongings(
        &mut self,
        method: Method,
        path: &[&str],
        body: &Value,
        sender: &Sender,
        now: i64,
    ) -> Answer {
        match (sender.verb, &sender.spec) {
            (Verb::Delete, _) => drop(self.given.remove(&sender.address)),
            (_, Some(spec)) => drop(self.given.insert(sender.address.clone(), spec.clone())),
            (_, None) => {}
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let user = |id: &Value| format!("user {}", id.as_str().unwrap_or_default());
        match (method, path) {
            (Method::Post, ["named_users", "tags"]) => {
                let group = sender.address.key.split('/').next().unwrap_or_default();
                let verbs = ["set", "add", "remove"].into_iter().filter_map(|verb| Some((verb, body.get(verb)?)));
                for (verb, groups) in verbs.collect::<Vec<_>>() {
                    let groups = groups.as_object().cloned().unwrap_or_default();
                    if groups.keys().any(|other| other != group) {
                        self.wrong.push(format!("{} changed the tags of another group: {body}", sender.address));
                    }
                    self.doc(&user(&body["audience"]["named_user_id"]), now, |doc| tag(doc, verb, &groups));
                }
            }
            (Method::Post, ["named_users", verb]) => {
                let channel = json!({ "channel_id": body["channel_id"], "device_type": body["device_type"] });
                // A channel belongs to one named user: it moves to this one.
                let others = self.docs.keys().filter(|_| *verb == "associate").filter(|doc| doc.starts_with("user "));
                for other in others.cloned().collect::<Vec<_>>() {
                    self.doc(&other, now, |doc| {
                        if let Some(channels) = doc.as_mut().and_then(|doc| doc["channels"].as_array_mut()) {
                            channels.retain(|other| other["channel_id"] != channel["channel_id"]);
                        }
                    });
                }
                self.doc(&user(&body["named_user_id"]), now, |doc| {
                    let doc = doc.get_or_insert_with(|| json!({ "tags": {}, "channels": [] }));
                    let channels = doc["channels"].as_array_mut().expect("channels");
                    channels.retain(|other| other["channel_id"] != channel["channel_id"]);
                    if *verb == "associate" {
                        channels.push(channel);
                    }
                });
            }
            (Method::Post, ["channels", "open"]) => {
                let id = format!("open-{}", text(&body["channel"]["address"]));
                let mut doc = body["channel"].clone();
                doc["channel_id"] = id.as_str().into();
                doc["installed"] = true.into();
                self.doc(&format!("channel {id}"), now, |old| *old = Some(doc));
                return Answer::new(200, json!({ "ok": true, "channel_id": id }));
            }
            (Method::Post, ["channels", "open", "uninstall"]) => {
                let id = format!("open-{}", text(&body["address"]));
                self.doc(&format!("channel {id}"), now, |doc| {
                    if let Some(doc) = doc {
                        doc["installed"] = false.into();
                    }
                });
            }
            (Method::Put, ["tags", tag]) => self.doc(&format!("tag {tag}"), now, |doc| *doc = Some(json!(true))),
            (Method::Delete, ["tags", tag]) => {
                let there = self.docs.get(&format!("tag {tag}")).is_some_and(|doc| as_of(doc, now).is_some());
                self.doc(&format!("tag {tag}"), now, |doc| *doc = None);
                for channel in super::project::CHANNELS {
                    self.carry(channel, tag, false, now);
                }
                return if there { Answer::new(204, Value::Null) } else { error(404) };
            }
            (Method::Post, ["tags", tag]) => {
                for verb in ["add", "remove"] {
                    let channels = body["ios_channels"][verb].as_array().cloned().unwrap_or_default();
                    for channel in channels {
                        self.carry(channel.as_str().unwrap_or_default(), tag, verb == "add", now);
                    }
                }
            }
            _ => return error(405),
        }
        Answer::new(200, json!({ "ok": true }))
    }

    fn carry(&mut self, channel: &str, tag: &str, carries: bool, now: i64) {
        self.doc(&format!("channel {channel}"), now, |doc| {
            let tags = doc.as_mut().and_then(|doc| doc["tags"].as_array_mut()).expect("tags");
            tags.retain(|other| other != tag);
            if carries {
                tags.push(tag.into());
            }
        });
    }
}

fn tag(doc: &mut Option<Value>, verb: &str, groups: &Map<String, Value>) {
    let doc = doc.get_or_insert_with(|| json!({ "tags": {}, "channels": [] }));
    for (group, tags) in groups {
        let given = tags.as_array().cloned().unwrap_or_default();
        let mut has = doc["tags"][group].as_array().cloned().unwrap_or_default();
        match verb {
            "set" => has = given,
            "add" => has.extend(given),
            _ => has.retain(|tag| !given.contains(tag)),
        }
        doc["tags"][group] = has.into();
    }
}
