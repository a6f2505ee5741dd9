# Runs a Python program of the matrix: reads requests as lines from standard input, and writes responses as lines to
# standard output; see client.ts.

import base64
import json
import runpy
import sys

call = runpy.run_path(sys.argv[1])["call"]

for line in sys.stdin:
    method, path, body = line.rstrip("\n").split("\t")
    status, value = call(method, path, json.loads(base64.b64decode(body)) if body else None)
    print(status, base64.b64encode(json.dumps(value).encode()).decode(), sep="\t", flush=True)
