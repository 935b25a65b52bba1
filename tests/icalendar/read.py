"""Reads an iCalendar file from standard input and prints its events as JSON. Fails on anything that is not valid."""

import json
import sys

import icalendar

text = sys.stdin.buffer.read()
calendar = icalendar.Calendar.from_ical(text)
assert calendar["VERSION"] == "2.0" and calendar["PRODID"], "a calendar says what it is"
assert not calendar.errors, calendar.errors
events = []
for event in calendar.walk("VEVENT"):
    assert not event.errors, event.errors
    stamp = event.decoded("DTSTAMP")
    assert stamp.utcoffset().total_seconds() == 0, "a stamp is in UTC"
    start = event.decoded("DTSTART")
    events.append({
        "uid": str(event["UID"]),
        "start": start.strftime("%Y-%m-%dT%H:%M"),
        "floats": start.tzinfo is None,
        "summary": str(event["SUMMARY"]),
        "description": str(event["DESCRIPTION"]),
    })
assert len({event["uid"] for event in events}) == len(events), "an id stands once"
json.dump(events, sys.stdout)
