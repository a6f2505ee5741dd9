# Calls the service with http.client.

import http.client
import json
import os
from contextlib import closing
from urllib.parse import urlsplit

url = urlsplit(os.environ["SERVICE_URL"])
Connection = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection


def call(method, path, body=None):
    headers = {"Authorization": f"Token {os.environ['API_TOKEN']}", "Content-Type": "application/json"}
    # On a connection that processes or threads share, a call can get the response of another.
    with closing(Connection(url.netloc, timeout=10)) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
    return response.status, json.loads(text) if text else None
