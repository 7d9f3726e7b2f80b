"""OpenAPI schema with the error responses of every operation, and the page that displays it."""

import threading
from functools import cache
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.authentication import SessionScheme
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from config.api_bases import KEY_HEADER, StrictSerializer

RETRY_AFTER = {
    "Retry-After": {
        "schema": {"type": "integer", "minimum": 1},
        "required": True,
        "description": "Seconds until the next request may be sent.",
    }
}
UNSAFE = {"POST", "PUT", "PATCH", "DELETE"}
IDEMPOTENCY_KEY = OpenApiParameter(
    KEY_HEADER,
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The same request with the same key runs once; a repetition gets the first answer.",
)


class ErrorSerializer(StrictSerializer):
    """Body of every error response; ``code`` is stable."""

    code = serializers.CharField(help_text="Stable; made for programs.")
    message = serializers.CharField(help_text="One sentence; made for people.")
    fields = serializers.DictField(  # type: ignore[assignment]  # DRF allows a field of this name
        required=False, help_text="With code `invalid`: messages by field."
    )


_GENERATION = threading.Lock()


class DocumentGenerator(SchemaGenerator):
    """Makes one document at a time in each process."""

    def get_schema(self, *args: Any, **kwargs: Any) -> Any:
        """Make the document."""
        # Race: drf-spectacular resolves the classes of its extensions while it makes the first documents;
        # a second thread found one half resolved, and the response was 500.
        with _GENERATION:
            return super().get_schema(*args, **kwargs)


class LimitedSessionScheme(SessionScheme):
    """Describes the API's authentication by the cookie of a login."""

    target_class = "experiments.api.authentication.LimitedSessionAuthentication"


class Schema(AutoSchema):
    """Adds the view's query parameters, and the common error responses to those that it declares."""

    def get_override_parameters(self) -> list[Any]:
        """The parameters of the view's ``query_class``."""
        query_class = getattr(self.view, "query_class", None)
        parameters: list[Any] = [query_class] if query_class and self.method == "GET" else []
        if self.method == "POST" and getattr(self.view, "keeps_answers", False):
            parameters.append(IDEMPOTENCY_KEY)
        return parameters

    def _get_serializer_name(self, *args: Any, **kwargs: Any) -> str:
        name: str = super()._get_serializer_name(*args, **kwargs)
        return name.replace("RequestRequest", "Request")

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        if direction == "response":
            for status in self._error_statuses():
                bodies.setdefault(
                    status, self._get_response_for_code(ErrorSerializer, status, direction=direction)
                )
            bodies["429"]["headers"] = RETRY_AFTER
            if getattr(self.view, "may_be_early", False):
                bodies["409"]["headers"] = RETRY_AFTER
        return dict(sorted(bodies.items()))

    def _error_statuses(self) -> list[str]:
        """Return the error statuses that the operation may respond with."""
        statuses = ["401", "403", "404", "406", "429"]
        if getattr(self.view, "may_be_early", False):
            statuses.append("409")
        if self.method == "POST":
            statuses.append("409")
        if self.method in UNSAFE:
            statuses += ["400", "413", "415", "422"]
        elif any(parameter["in"] == "query" for parameter in self._get_parameters()):
            statuses += ["400", "422"]
        return statuses


METHODS = ("get", "post", "put", "patch", "delete")
UPLOAD_NAMES = {"file": "scores.csv", "models": "models.csv"}


def add_links(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Postprocessing hook of drf-spectacular: link responses to the operations that take their identifiers.

    A list or a new row links to the address of one row, and ``job`` to the state of the job.
    """
    paths = result["paths"]
    for path, path_item in paths.items():
        for method in {"get", "post"} & path_item.keys():
            for status, response in path_item[method]["responses"].items():
                pointer, properties = _find_id_pointer(result, response)
                if not status.startswith("2") or not properties:
                    continue
                links = _links_to_rows(paths, path, pointer, properties)
                if "job" in properties:
                    job = {"id": f"$response.body#{pointer}/job"}
                    links["jobs_retrieve"] = {"operationId": "jobs_retrieve", "parameters": job}
                if links:
                    response["links"] = links
    return result


def _find_id_pointer(document: dict[str, Any], response: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The pointer to a row in the body of a response, the first of a list, and the row's properties."""
    schema = _resolve_schema(
        document, response.get("content", {}).get("application/json", {}).get("schema", {})
    )
    pointer = ""
    if "results" in schema.get("properties", {}):
        pointer, schema = "/results", _resolve_schema(document, schema["properties"]["results"])
    if schema.get("type") == "array":
        pointer, schema = f"{pointer}/0", _resolve_schema(document, schema["items"])
    return pointer, schema.get("properties", {})


def _resolve_schema(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    target: dict[str, Any] = document["components"]["schemas"][name] if name else schema
    return target


def _links_to_rows(
    paths: dict[str, Any], path: str, pointer: str, properties: dict[str, Any]
) -> dict[str, Any]:
    """Links from a list's path to the operations of one row, by the property that its address has."""
    links = {}
    for name in properties:
        for method, operation in paths.get(f"{path}{{{name}}}/", {}).items():
            if method not in METHODS:
                continue
            parameters = {
                parameter["name"]: f"$request.path.{parameter['name']}"
                for parameter in operation["parameters"]
                if parameter["in"] == "path"
            }
            parameters[name] = f"$response.body#{pointer}/{name}"
            links[operation["operationId"]] = {
                "operationId": operation["operationId"],
                "parameters": parameters,
            }
    return links


def forbid_unknown_keys(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Postprocessing hook of drf-spectacular: request bodies have no further keys, at any level.

    The answers of sessions are an exception: see :mod:`judgments.sessions.payload`.
    """
    for path, path_item in result["paths"].items():
        if path.startswith("/api/v1/sessions/"):
            continue
        for operation in (path_item[method] for method in path_item.keys() & set(METHODS)):
            for content in operation.get("requestBody", {}).get("content", {}).values():
                _close_objects(result, content["schema"])
    return result


def _close_objects(document: dict[str, Any], schema: dict[str, Any]) -> None:
    schema = _resolve_schema(document, schema)
    if "properties" in schema and "additionalProperties" not in schema:
        schema["additionalProperties"] = False
        for part in schema["properties"].values():
            _close_objects(document, part)
    for part in [schema.get("items", {}), *schema.get("allOf", []), *schema.get("oneOf", [])]:
        if part:
            _close_objects(document, part)


def name_uploads(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Postprocessing hook of drf-spectacular: name the files of forms, because suffixes decide the format."""
    for path_item in result["paths"].values():
        for operation in (path_item[method] for method in path_item.keys() & set(METHODS)):
            form = operation.get("requestBody", {}).get("content", {}).get("multipart/form-data")
            if form is None:
                continue
            properties = _resolve_schema(result, form["schema"])["properties"]
            for name in sorted(UPLOAD_NAMES.keys() & properties.keys()):
                disposition = f'form-data; name="{name}"; filename="{UPLOAD_NAMES[name]}"'
                header = {"schema": {"type": "string", "example": disposition}}
                encoding = form.setdefault("encoding", {}).setdefault(name, {})
                encoding.setdefault("headers", {})["Content-Disposition"] = header
    return result


def api_docs(request: HttpRequest) -> HttpResponse:
    """Display the operations by resource with their parameters and responses."""
    context = {"groups": resource_groups(), "host": request.build_absolute_uri("/").rstrip("/")}
    return render(request, "experiments/api_docs.html", context)


@cache
def resource_groups() -> list[dict[str, Any]]:
    """Return the operations grouped by resource; cached, because the schema is constant in a process."""
    document = DocumentGenerator().get_schema(request=None, public=True)
    resources: dict[str, list[dict[str, Any]]] = {}
    for path, path_item in document["paths"].items():
        for method in METHODS:
            if method in path_item:
                operation = describe_operation(document, path, method=method)
                resources.setdefault(operation["resource"], []).append(operation)
    return [{"name": name.replace("-", " "), "operations": group} for name, group in resources.items()]


def describe_operation(document: dict[str, Any], path: str, *, method: str) -> dict[str, Any]:
    """Return one operation as the template displays it."""
    operation = document["paths"][path][method]
    parts = path.removeprefix("/api/v1/").strip("/").split("/")
    resource = next((part for part in parts[2:] if not part.startswith("{")), parts[0])
    title, _, description = operation.get("description", "").partition("\n")
    return {
        "resource": resource.partition(".")[0],
        "id": operation["operationId"],
        "method": method.upper(),
        "path": path,
        "title": operation.get("summary") or title,
        "description": description.strip(),
        "parameters": operation.get("parameters", []),
        "body": body_fields(document, body_schema(operation)),
        "responses": [
            (status, response.get("description", "")) for status, response in operation["responses"].items()
        ],
    }


def body_schema(operation: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the request body, empty where the operation has none."""
    schema: dict[str, Any] = (
        operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    )
    return schema


def body_fields(document: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the writable fields of a request body."""
    name = schema.get("$ref", "").rpartition("/")[2]
    resolved = document["components"]["schemas"][name] if name else schema
    required = set(resolved.get("required", []))
    return [
        {
            "name": field,
            "type": field_schema.get("type", "choice"),
            "required": field in required,
            "description": field_schema.get("description", ""),
        }
        for field, field_schema in resolved.get("properties", {}).items()
        if not field_schema.get("readOnly")
    ]
