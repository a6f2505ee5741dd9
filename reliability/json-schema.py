# Prints the verdicts of python3-jsonschema on the test cases in a folder, in the format of the JSON Schema
# Test Suite.
#
# Each line is the JSON for one schema: {"file", "description", "schema", "tests"}, with {"description",
# "data", "valid", "verdict"} for each test. Schema and data are texts, whose numbers are exact. A verdict is
# true, false or the name of the error; nothing is fetched.

import json
import pathlib
import sys
import urllib.request


def refuse(*_args, **_kwargs):
    raise OSError("a remote reference")


urllib.request.urlopen = refuse
sys.modules["requests"] = None

from jsonschema import Draft202012Validator  # noqa: E402


def text(value):
    return json.dumps(value, separators=(",", ":"))


def verdict(schema, data):
    try:
        return Draft202012Validator(schema).is_valid(data)
    except RecursionError:
        return "RecursionError"
    except Exception as error:
        return type(error).__name__


folder = pathlib.Path(sys.argv[1])
for path in sorted(folder.rglob("*.json")):
    for case in json.loads(path.read_text("utf-8")):
        schema = case["schema"]
        tests = [
            {
                "description": test["description"],
                "data": text(test["data"]),
                "valid": test["valid"],
                "verdict": verdict(schema, test["data"]),
            }
            for test in case["tests"]
        ]
        line = {
            "file": str(path.relative_to(folder)),
            "description": case["description"],
            "schema": text(schema),
            "tests": tests,
        }
        print(json.dumps(line))
