# Calls the service with http.client.

import http.client
import json
import os
from urllib.parse import urlsplit

url = urlsplit(os.environ["SERVICE_URL"])
is_encrypted = url.scheme == "https"
connection = (http.client.HTTPSConnection if is_encrypted else http.client.HTTPConnection)(url.netloc)


def call(method, path, body=None):
    headers = {"Authorization": f"Token {os.environ['API_TOKEN']}", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read()
    return response.status, json.loads(text) if text else None
