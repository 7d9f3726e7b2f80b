#!/usr/bin/env bash
# A column that Croissant describes as text: mlcroissant 1.0.22 reads the CSV with pandas first, so that participant 001
# is "1", and a sentence that is the word "NA" or "null" is missing.
# Guess beforehand: b"001" and b"NA", since the description says sc:Text.
# What follows: a release gives Croissant its Parquet files, in which text stays text.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet mlcroissant==1.0.22
printf 'participant,word\n001,NA\n007,tree\n010,null\n' >"$folder/a.csv"
"$folder/v/bin/python" -W ignore - "$folder" <<'PYTHON' 2>/dev/null
import hashlib, json, os, sys
os.chdir(sys.argv[1])
import mlcroissant as mlc
def field(name):
    return mlc.Field(id=f"rows/{name}", name=name, data_types=mlc.DataType.TEXT, source=mlc.Source(file_object="a.csv", extract=mlc.Extract(column=name)))
sha = hashlib.sha256(open("a.csv", "rb").read()).hexdigest()
metadata = mlc.Metadata(
    name="a", description="a", license="https://spdx.org/licenses/CC0-1.0", url="https://example.org", cite_as="a", date_published="2026-01-01", version="1.0.0",
    distribution=[mlc.FileObject(id="a.csv", name="a.csv", content_url="a.csv", encoding_formats="text/csv", sha256=sha)],
    record_sets=[mlc.RecordSet(id="rows", name="rows", fields=[field("participant"), field("word")])],
)
json.dump(metadata.to_json(), open("croissant.json", "w"), default=str)
rows = [tuple(record.values()) for record in mlc.Dataset("croissant.json").records("rows")]
print("mlcroissant 1.0.22:", rows)
assert rows == [(b"1", None), (b"7", b"tree"), (b"10", None)], rows
PYTHON
