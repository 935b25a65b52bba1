"""What a team writes by hand: load the manifests, list what is there, compare, create what is missing.

Names are joined, contents compared. There is no ledger, no check, no report: it prints how many things differ.
"""

import os
import re
import sys
from pathlib import Path

import requests
import yaml

ORIGIN = os.environ["PUSHPLAN_ORIGIN"]
session = requests.Session()
session.auth = (os.environ["PUSHPLAN_APP_KEY"], os.environ["PUSHPLAN_MASTER_SECRET"])
session.headers["Accept"] = "application/vnd.messaging+json; version=3"
session.trust_env = False


def load(folder):
    declared = {}
    for path in sorted(Path(folder).rglob("*.yaml")):
        with open(path, encoding="utf-8") as file:
            for kind, resources in yaml.load(file, Loader=yaml.CSafeLoader).items():
                declared.setdefault(kind, {}).update(resources)
    for resources in declared.values():
        for key, spec in resources.items():
            resources[key] = {name: value for name, value in spec.items() if not name.startswith("x-")}
    return declared


def get(url):
    answer = session.get(url)
    answer.raise_for_status()
    return answer.json()


def listed(path, field):
    url = ORIGIN + path
    while url:
        page = get(url)
        yield from page[field]
        url = page.get("next_page")


def send(method, path, body=None):
    answer = session.request(method, ORIGIN + path, json=body)
    answer.raise_for_status()
    return answer.json() if answer.content else {}


def minute(schedule):
    return re.sub("[^0-9]", "", str(schedule["scheduled_time"]))[:12]


def wire_time(schedule):
    return {"scheduled_time": re.sub(":", "", str(schedule["scheduled_time"])[:16]).replace(" ", "T")}


def lowered(selector):
    """The service writes AND, OR and NOT."""
    if isinstance(selector, dict):
        return {key.lower(): lowered(value) for key, value in selector.items()}
    return [lowered(one) for one in selector] if isinstance(selector, list) else selector


def same(wanted, found, fields):
    return all(wanted.get(field) == found.get(field) for field in fields)


def by_name(items, name="name"):
    return {item[name]: item for item in items}


def main(folder, apply):
    declared = load(folder)
    all_of = lambda kind: declared.get(kind, {})
    missing = []

    segments = by_name(listed("/api/segments", "segments"), "display_name")
    ids = {}
    for key, spec in all_of("segments").items():
        name = spec.get("display_name", key)
        if name in segments:
            ids[key] = segments[name]["id"]
            # The list has no criteria.
            if lowered(get(f"{ORIGIN}/api/segments/{ids[key]}")["criteria"]) == spec["criteria"]:
                continue
        elif apply:
            body = {"display_name": name, "criteria": spec["criteria"]}
            ids[key] = send("POST", "/api/segments", body)["segment_id"]
        missing.append(key)

    def pointed(push):
        audience = push.get("audience")
        if isinstance(audience, dict) and "segment" in audience:
            return {**push, "audience": {"segment": ids.get(audience["segment"], "")}}
        return push

    templates = by_name(listed("/api/templates", "templates"))
    for key, spec in all_of("templates").items():
        name = spec.get("name", key)
        if name in templates and same(spec, templates[name], ["description", "variables", "push"]):
            continue
        missing.append(key)
        if apply:
            send("POST", "/api/templates", {**spec, "name": name})

    pipelines = {}
    for enabled in ["true", "false"]:
        pipelines.update(by_name(listed(f"/api/pipelines?enabled={enabled}", "pipelines")))
    for key, spec in all_of("pipelines").items():
        name = spec.get("name", key)
        if name in pipelines and same(spec, pipelines[name], ["enabled", "immediate_trigger", "outcome"]):
            continue
        missing.append(key)
        if apply:
            send("POST", "/api/pipelines", {**spec, "name": name})

    schedules = by_name(listed("/api/schedules", "schedules"))
    for key, spec in all_of("scheduled_pushes").items():
        name, push = spec.get("name", key), pointed(spec["push"])
        found = schedules.get(name)
        if found and found["push"] == push and minute(found["schedule"]) == minute(spec["schedule"]):
            continue
        missing.append(key)
        if apply:
            send("POST", "/api/schedules", {"name": name, "schedule": wire_time(spec["schedule"]), "push": push})

    def variants(experiment):
        return [(variant["push"], minute(variant["schedule"])) for variant in experiment["variants"]]

    experiments = by_name(listed("/api/experiments", "experiments"))
    for key, spec in all_of("experiments").items():
        name = spec.get("name", key)
        found = experiments.get(name)
        fields = ["description", "audience", "device_types"]
        if found and same(spec, found, fields) and variants(spec) == variants(found):
            continue
        missing.append(key)
        if apply:
            sent = [{**variant, "schedule": wire_time(variant["schedule"])} for variant in spec["variants"]]
            send("POST", "/api/experiments", {**spec, "name": name, "variants": sent})

    users = by_name(listed("/api/named_users", "named_users"), "named_user_id")
    for key, spec in all_of("named_users").items():
        there = {(it["channel_id"], it["device_type"]) for it in users.get(key, {}).get("channels", [])}
        for channel in spec["channels"]:
            if (channel["channel_id"], channel["device_type"]) not in there:
                missing.append(key)
                if apply:
                    send("POST", "/api/named_users/associate", {**channel, "named_user_id": key})
    for group, spec in all_of("tag_groups").items():
        for user, tags in spec.get("members", {}).get("named_users", {}).items():
            if sorted(users.get(user, {}).get("tags", {}).get(group, [])) != sorted(tags):
                missing.append(group)
                if apply:
                    body = {"audience": {"named_user_id": user}, "set": {group: tags}}
                    send("POST", "/api/named_users/tags", body)

    channels = {it["address"]: it for it in listed("/api/channels", "channels") if it.get("address")}
    for key, spec in all_of("open_channels").items():
        found = channels.get(spec["address"])
        if found and same(spec, found, ["opt_in", "open"]) and sorted(spec["tags"]) == sorted(found["tags"]):
            continue
        missing.append(key)
        if apply:
            send("POST", "/api/channels/open", {"channel": {**spec, "type": "open"}})

    tags = set(get(ORIGIN + "/api/tags/")["tags"])
    for key, spec in all_of("tags").items():
        # The service lists a hundred: of the others nothing is known, and to make one twice is the same.
        if spec["tag"] not in tags and (apply or len(tags) < 100):
            missing.append(key)
            if apply:
                send("PUT", "/api/tags/" + spec["tag"])

    print(f"{len(missing)} differences")


main(sys.argv[1], "--apply" in sys.argv)
