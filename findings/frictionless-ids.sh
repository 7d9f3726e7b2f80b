#!/usr/bin/env bash
# Participants 001, 007 and 010 of a CSV file without a schema are the numbers 1, 7 and 10 to frictionless 5.18.1, and
# its file written from these rows no longer has the ids; sentences "true" and "false" become booleans.
# Guess beforehand: text, because a leading zero is no way to write a number.
# What follows: a release describes each column of its data package, ids as string.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet frictionless==5.18.1
printf 'participant,word,rating\n001,true,7\n007,false,3\n010,true,1\n' >"$folder/a.csv"
"$folder/v/bin/python" -W ignore - "$folder" <<'PYTHON'
import os, sys
os.chdir(sys.argv[1])
from frictionless import Resource, Schema
inferred = [tuple(row.to_dict().values()) for row in Resource("a.csv").read_rows()]
schema = Schema.from_descriptor({"fields": [{"name": n, "type": t} for n, t in (("participant", "string"), ("word", "string"), ("rating", "integer"))]})
described = [tuple(row.to_dict().values()) for row in Resource("a.csv", schema=schema).read_rows()]
print("frictionless 5.18.1, without a schema:", inferred)
print("with a schema:", described)
assert inferred == [(1, True, 7), (7, False, 3), (10, True, 1)], inferred
assert described == [("001", "true", 7), ("007", "false", 3), ("010", "true", 1)], described
PYTHON
