"""Brings a copy of all user groups up to date: python3 follow.py copy.db"""

import http.client
import json
import os
import sqlite3
import sys
import time
from urllib.parse import quote, urlencode, urlsplit

url = urlsplit(os.environ["SERVICE_URL"])
Connection = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
# Without a limit, a run that waits forever would hold the lock.
connection = Connection(url.netloc, timeout=60)
database = sqlite3.connect(sys.argv[1], timeout=600, isolation_level=None)
headers = {"Authorization": f"Token {os.environ['API_TOKEN']}"}
decoder = json.JSONDecoder()


class MustCopy(Exception):
    """The feed does not say everything that has changed since the last run."""


def call(path, **query):
    """Returns the status and the text, and waits while the service asks for it."""
    while True:
        connection.request("GET", f"{path}?{urlencode(query)}" if query else path, headers=headers)
        response = connection.getresponse()
        text = response.read().decode()
        if response.status not in (429, 503):
            return response.status, text
        time.sleep(int(response.headers.get("Retry-After", "1")))


def page(path, **query):
    status, text = call(path, **{name: value for name, value in query.items() if value})
    if status == 400:
        raise MustCopy(json.loads(text)["detail"])
    if status != 200:
        sys.exit(f"{path}: {text}")
    return json.loads(text), text


def user_groups(text):
    """Yields the user groups of a page, each with its exact text: Python rounds numbers."""
    at = text.index("[") + 1
    while text[at] != "]":
        group, end = decoder.raw_decode(text, at)
        yield group, text[at:end]
        at = end + (text[end] == ",")


def store(user_group_id, document):
    database.execute("insert or replace into user_groups values (?, ?)", (user_group_id, document))


def save(cursor):
    database.execute("delete from progress")
    database.execute("insert into progress values (?)", (cursor,))


def copy_all():
    cursor = None
    newest = [event["event_id"] for event in page("/v1/events", limit=1)[0]["events"]]
    while True:
        feed, _ = page("/v1/events", order="oldest", limit=1000, cursor=cursor)
        cursor = feed["next_cursor"]
        # With changes all the time, no page would be empty.
        if not feed["events"] or any(event["event_id"] in newest for event in feed["events"]):
            break
    database.execute("begin immediate")
    database.execute("delete from user_groups")
    after = None
    while True:
        groups, text = page("/v1/user-groups", limit=1000, cursor=after)
        for group, document in user_groups(text):
            store(group["provided_id"], document)
        after = groups["next_cursor"]
        if after is None:
            break
    save(cursor)
    database.execute("commit")


def refresh(user_group_id):
    """Reads the group: an event may omit values, and has no team_id."""
    status, text = call("/v1/user-groups/" + quote(user_group_id, safe=""))
    # A proxy may answer 404 too.
    if status == 404 and '"user_group_not_found"' in text:
        database.execute("delete from user_groups where id = ?", (user_group_id,))
    elif status == 200:
        store(user_group_id, text[text.index("{", 1) : -1])
    else:
        sys.exit(text)


def changed_ids(event):
    if event["target"]["type"] != "user_group":
        return
    yield event["target"]["id"]
    if event["type"] == "user_group.renamed":
        former = (event["changes"] or {}).get("user_group_id", {}).get("from")
        if former is None:
            raise MustCopy("an event omits the former id of a user group")
        yield former


def follow():
    """Applies a page in one transaction with its cursor. Returns whether it had events."""
    # Another run must not store an earlier state of a group after this one.
    database.execute("begin immediate")
    progress = database.execute("select cursor from progress").fetchone()
    if progress is None:
        raise MustCopy("there is no copy yet")
    feed, _ = page("/v1/events", order="oldest", limit=1000, cursor=progress[0])
    for user_group_id in {id for event in feed["events"] for id in changed_ids(event)}:
        refresh(user_group_id)
    save(feed["next_cursor"])
    database.execute("commit")
    return feed["events"] != []


if page("/v1/whoami")[0]["api_token"]["permission"] != "read-only":
    sys.exit("API_TOKEN must have the permission read-only: with others, the copy would contain tokens.")
database.execute("create table if not exists user_groups (id text primary key, document text not null)")
database.execute("create table if not exists progress (cursor text not null)")
try:
    while follow():
        pass
except MustCopy as reason:
    database.execute("rollback")
    print(f"Copying all user groups: {reason}.")
    copy_all()
