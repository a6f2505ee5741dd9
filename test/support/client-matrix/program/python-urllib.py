# Calls the service with urllib.

import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = Request(os.environ["SERVICE_URL"] + path, data, {"Content-Type": "application/json"}, method=method)
    # Other headers are also sent to the host that a redirect names.
    request.add_unredirected_header("Authorization", f"Token {os.environ['API_TOKEN']}")
    try:
        response = urlopen(request, timeout=10)
    except HTTPError as error:
        response = error
    with response:
        text = response.read()
        return response.status, json.loads(text) if text else None
