"""A dashboard server: each customer sees the rows of its own database, or its own rows of a shared one.

    export SERVICE_URL=http://127.0.0.1:8080 API_TOKEN=uga_... PRODUCT_URL=https://product.example.com
    DATABASES=databases.json flask --app dashboard run
"""

import json
import os
import secrets
import sqlite3
import time
from contextlib import closing
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from flask import Flask, abort, redirect, request

app = Flask(__name__)
# Files by the name of their secret, which is all that the catalogue has of a database.
with open(os.environ["DATABASES"], encoding="utf-8") as file:
    DATABASES = json.load(file)
SESSION_SECONDS = 8 * 60 * 60
# Tokens and when their sessions end. The cookie says nothing. Use a store of your own for several processes.
sessions = {}


def resolve(token):
    body = json.dumps({"token": token}).encode()
    query = Request(os.environ["SERVICE_URL"] + "/v1/resolve", body, {"Content-Type": "application/json"})
    # Other headers are also sent to the host that a redirect names.
    query.add_unredirected_header("Authorization", f"Token {os.environ['API_TOKEN']}")
    try:
        with urlopen(query, timeout=10) as response:
            return json.load(response)
    except HTTPError as error:
        # A proxy may answer 404 too.
        if error.code != 404 or b'"user_group_token_not_found"' not in error.read():
            abort(503)
        # A session ends with its token, also if the user group is resumed later.
        sessions.pop(request.cookies.get("session"), None)
        abort(401)
    except OSError:
        abort(503)


@app.post("/session")
def sign_in():
    # Otherwise any site could show its visitors the dashboard of a customer of its choice.
    if request.headers.get("Origin") != os.environ["PRODUCT_URL"]:
        abort(403)
    # The session of the previous viewer ends, whatever happens to this one.
    sessions.pop(request.cookies.get("session"), None)
    token = request.form.get("token") or abort(401)
    resolve(token)
    for other, (_, end) in list(sessions.items()):
        if end < time.monotonic():
            sessions.pop(other, None)
    session = secrets.token_urlsafe()
    sessions[session] = token, time.monotonic() + SESSION_SECONDS
    response = redirect("/", 303)
    # The scheme of the product: behind a proxy that terminates HTTPS, request.is_secure is false.
    response.set_cookie("session", session, httponly=True, samesite="Lax", secure=request.origin.startswith("https"))
    return response


@app.get("/")
def dashboard():
    token, end = sessions.get(request.cookies.get("session"), ("", 0))
    # On every request: a rotation, a suspension and a change of the mapping apply to the next one.
    viewer = resolve(token) if time.monotonic() < end else abort(401)
    source = viewer["data_sources"].get("orders")
    file = DATABASES.get(source["attributes"].get("secret_name")) if source else None
    customer = (viewer["user_group"]["properties"] or {}).get("customer_id")
    # A missing value is an error, never the absence of a condition.
    if file is None or not isinstance(customer, str) or customer == "":
        abort(503, "Your data is not available.")
    query = "select month, revenue from orders where customer_id = ? order by month"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        rows = database.execute(query, (customer,)).fetchall()
    # Each viewer gets another page at the same address.
    return {"customer": viewer["user_group"]["name"], "rows": rows}, {"Cache-Control": "private, no-store"}
