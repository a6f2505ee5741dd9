# How the programs of this folder that are Python are driven: requests come as lines on standard input, and answers
# go as lines to standard output; see ../client.ts.

import base64
import json
import sys


def answer_lines(call):
    """Makes each call that is asked for. `call` gives a status and a value."""
    for line in sys.stdin:
        method, path, body = line.rstrip("\n").split("\t")
        status, value = call(method, path, json.loads(base64.b64decode(body)) if body else None)
        print(status, base64.b64encode(json.dumps(value).encode()).decode(), sep="\t", flush=True)
