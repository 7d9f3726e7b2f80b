"""The API as one readable page, made from its OpenAPI document; no script, nothing from other hosts."""

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator

METHODS = ("get", "post", "put", "patch", "delete")


def api_docs(request: HttpRequest) -> HttpResponse:
    """Operations by resource: parameters, answer, failures, an example."""
    context = {"groups": groups(), "host": request.build_absolute_uri("/").rstrip("/")}
    return render(request, "experiments/api_docs.html", context)


@cache
def groups() -> list[dict[str, Any]]:
    """Operations grouped by resource."""
    document = SchemaGenerator().get_schema(request=None, public=True)
    found: dict[str, list[dict[str, Any]]] = {}
    for address, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                entry = operation(document, address, method=method)
                found.setdefault(entry["resource"], []).append(entry)
    return [{"name": name.replace("-", " "), "operations": entries} for name, entries in found.items()]


def operation(document: dict[str, Any], address: str, *, method: str) -> dict[str, Any]:
    """One operation in the words of its page."""
    stated = document["paths"][address][method]
    parts = address.removeprefix("/api/v1/").strip("/").split("/")
    resource = next((part for part in parts[2:] if not part.startswith("{")), parts[0])
    title, _, rest = stated.get("description", "").partition("\n")
    return {
        "resource": resource.partition(".")[0],
        "id": stated["operationId"],
        "method": method.upper(),
        "address": address,
        "title": stated.get("summary") or title,
        "description": rest.strip(),
        "parameters": stated.get("parameters", []),
        "body": fields_of(document, body_schema(stated)),
        "answers": [(code, answer.get("description", "")) for code, answer in stated["responses"].items()],
    }


def body_schema(stated: dict[str, Any]) -> dict[str, Any]:
    """Schema of the request's body, empty when it has none."""
    return stated.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})


def fields_of(document: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Fields a body may have."""
    name = schema.get("$ref", "").rpartition("/")[2]
    full = document["components"]["schemas"][name] if name else schema
    needed = set(full.get("required", []))
    return [
        {
            "name": field,
            "type": about.get("type", "choice"),
            "needed": field in needed,
            "meaning": about.get("description", ""),
        }
        for field, about in full.get("properties", {}).items()
        if not about.get("readOnly")
    ]
