# Decodes tokens as Superset does, with PyJWT. Reads lines of JSON from standard input:
# {"token", "key", "algorithm", "audience"}, where the key is a secret, a PEM or the URL of a key set.
# Writes a line of JSON for each: {"claims"} or {"error"}.

import json
import sys

import jwt


def key_of(request):
    key = request["key"]
    if not key.startswith("http"):
        return key
    return jwt.PyJWKClient(key).get_signing_key_from_jwt(request["token"]).key


for line in sys.stdin:
    request = json.loads(line)
    try:
        claims = jwt.decode(
            request["token"],
            key_of(request),
            algorithms=[request["algorithm"]],
            audience=request["audience"],
        )
        print(json.dumps({"claims": claims}), flush=True)
    except Exception as error:
        print(json.dumps({"error": type(error).__name__}), flush=True)
