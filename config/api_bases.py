"""Bases of the REST API: serializers, views, pages and error responses.

An unknown key or parameter is an error, never ignored.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, TypeVar, cast

from django.apps import apps
from django.db.models import Model
from django.http import HttpResponse, QueryDict
from django.utils import timezone
from django.utils.cache import (
    get_conditional_response,
    patch_cache_control,
    patch_vary_headers,
    set_response_etag,
)
from rest_framework import mixins, serializers
from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from analysis.errors import BadInput, StillComputing, UnknownName

Row = TypeVar("Row", bound=Model)
MAX_QUOTED, MAX_ERRORS = 100, 20  # characters of a sent key; unknown keys in one response


def refuse_unknown(sent: Collection[str], names: Collection[str], *, read_only: Collection[str] = ()) -> None:
    """Raise ValidationError for each sent key that is none of the names, with a near name."""
    unknown = [key for key in sent if key not in names][:MAX_ERRORS]
    if unknown:
        errors = {key[:MAX_QUOTED]: [_explain(key, names, read_only=read_only)] for key in unknown}
        raise ValidationError(errors, code="unknown_key")


def _explain(key: str, names: Collection[str], *, read_only: Collection[str]) -> str:
    if key in read_only:
        return "This is read-only: it is returned, and cannot be sent."
    if near := get_close_matches(key[:MAX_QUOTED], names, n=1):
        return f"There is no such name here. Did you mean {near[0]!r}?"
    remedy = f"There are: {', '.join(sorted(names))}." if names else "None are accepted."
    return f"There is no such name here. {remedy}"


class StrictSerializer(serializers.Serializer[Any]):
    """Base of all serializers: refuses keys that it does not write, nested ones too."""

    def to_internal_value(self, data: Any) -> Any:
        """Validate the keys, then the values."""
        if isinstance(data, Mapping):
            writable = [name for name, field in self.fields.items() if not field.read_only]
            refuse_unknown([str(key) for key in data], writable, read_only=self.fields.keys())
        return super().to_internal_value(data)


class StrictModelSerializer(StrictSerializer, serializers.ModelSerializer[Row]):
    """Base of all serializers of a model."""


class StrictView(APIView):
    """Base of all views of the API.

    Query parameters are those of ``query_class``, of the filters and, in lists, of pages. They belong to
    requests that read.
    """

    query_class: ClassVar[type[StrictSerializer] | None] = None
    may_be_early: ClassVar[bool] = False  # responds 409 while what it needs is computed
    keeps_answers: ClassVar[bool] = True  # under idempotency keys; False for people's data and secret links

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse unknown and repeated query parameters, and the body of a deletion."""
        super().initial(request, *args, **kwargs)
        query = request.query_params
        refuse_unknown(query, self._query_names(request) if request.method in {"GET", "HEAD"} else ())
        if repeated := {name: ["Send it once."] for name in query if len(query.getlist(name)) > 1}:
            raise ValidationError(repeated)
        if request.method == "DELETE":
            self.refuse_body()
        if KEY_HEADER in request.headers:
            if request.method != "POST" or not (self.keeps_answers and request.user.is_authenticated):
                raise ValidationError(
                    {KEY_HEADER: ["Only POST requests that may store their answer read it."]}
                )
            method = request.method.lower()
            setattr(self, method, partial(answer_once, getattr(self, method)))

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Add an ETag to JSON without people's data that a token reads; all other answers are not stored."""
        final = super().finalize_response(request, response, *args, **kwargs)
        names_people = getattr(self, "further_scope", "") or getattr(self, "change_scope", "")
        is_json = isinstance(final, Response) and final.status_code == 200
        # With a login's cookie it may be a shared computer, on whose disk the answer would stay.
        if is_json and request.method in {"GET", "HEAD"} and request.auth is not None and not names_people:
            patch_cache_control(final, private=True, no_cache=True)
            patch_vary_headers(final, ["Authorization"])
            final.add_post_render_callback(partial(revalidate, request))
        return final

    def refuse_body(self) -> None:
        """Refuse a body, which would not be read."""
        data = self.request.data
        refuse_unknown(data if isinstance(data, Mapping) else ["body"], ())

    def _query_names(self, request: Request) -> list[str]:
        names = list(self.query_class().fields) if self.query_class else []
        is_list = isinstance(self, mixins.ListModelMixin) and getattr(self, "action", "list") == "list"
        if is_list:
            names += getattr(getattr(self, "filterset_class", None), "base_filters", ())
            if pages := getattr(self, "pagination_class", None):
                names += [pages.page_query_param, pages.page_size_query_param]
        return names

    def validated_query(self) -> dict[str, Any]:
        """The validated query parameters of ``query_class``; those of pages are read by the pagination."""
        assert self.query_class is not None
        sent, names = self.request.query_params.dict(), list(map(str, self.query_class().fields))
        choices = self.query_class(data={name: sent[name] for name in names if name in sent})
        choices.is_valid(raise_exception=True)
        validated: dict[str, Any] = choices.validated_data
        return validated


class ColumnListMixin(mixins.ListModelMixin):
    """Lists that are read as columns of the database: a model and a serializer for each row cost most."""

    columns: ClassVar[dict[str, Any]] = {}  # of the serializer, with what they are read from

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page."""
        view: Any = self
        rows = view.filter_queryset(view.get_queryset()).values_list(*self.columns.values())
        page = [dict(zip(self.columns, row, strict=True)) for row in view.paginate_queryset(rows)]
        return cast(Response, view.get_paginated_response(page))


def revalidate(request: Request, response: Response) -> HttpResponse | None:
    """Set the ETag of a rendered answer; 304 where it is the one that the request names."""
    set_response_etag(response)
    conditional = get_conditional_response(request, etag=response["ETag"], response=response)
    return None if conditional is response else conditional


KEY_HEADER = "Idempotency-Key"
RUN_LIMIT = timedelta(minutes=10)  # above those of servers; a request that runs longer was killed
LONGEST_KEY = 255


def answer_once(handler: Callable[..., Response], request: Request, *args: Any, **kwargs: Any) -> Response:
    """Answer a request with an idempotency key: the first runs, others get its stored answer.

    Notes
    -----
    Requests that are refused (400 to 499) store nothing and free their key. One that failed or was killed
    keeps it, because it is unknown whether it took effect.

    References
    ----------
    The Idempotency-Key HTTP Header Field, draft-ietf-httpapi-idempotency-key-header-07.
    """
    keys: Any = apps.get_model("experiments", "RequestKey").objects
    key, fingerprint = checked_key(request.headers[KEY_HEADER]), request_fingerprint(request)
    keys.filter_expired().filter(user=request.user, key=key).delete()
    row, is_first = keys.get_or_create(user=request.user, key=key, defaults={"fingerprint": fingerprint})
    if not is_first:
        return stored_answer(row, fingerprint)
    try:
        response = handler(request, *args, **kwargs)
    except Exception as error:
        if error_response(error, {}) is None:
            raise
        row.delete()
        raise
    row.status, row.answer = response.status_code, JSONRenderer().render(response.data).decode()
    row.save(update_fields=["status", "answer"])
    return response


def checked_key(key: str) -> str:
    """The key without the quotation marks of a structured field."""
    key = key.strip().removeprefix('"').removesuffix('"')
    if not key or len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise ValidationError({KEY_HEADER: [f"Send 1 to {LONGEST_KEY} printable ASCII characters."]})
    return key


def request_fingerprint(request: Request) -> str:
    """SHA-256 of method, address and body; of files, their names and content count."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if isinstance(request.data, QueryDict):
        for name, values in sorted(request.data.lists()):
            for value in values:
                digest.update(f"{name}={getattr(value, 'name', value)}\n".encode())
                for chunk in value.chunks() if hasattr(value, "chunks") else ():
                    digest.update(chunk)
    else:
        digest.update(json.dumps(request.data, sort_keys=True).encode())
    return digest.hexdigest()


def stored_answer(row: Any, fingerprint: str) -> Response:
    """The answer of the first request: 422 where that was another request, 409 while there is no answer."""
    if row.fingerprint != fingerprint:
        raise Unprocessable(
            "The idempotency key was sent with another request. Send each request its own.",
            code="idempotency_key_reused",
        )
    if row.status is None:
        if timezone.now() - row.created_at < RUN_LIMIT:
            raise TooEarly("The first request with this idempotency key is running.", code="in_progress")
        raise UnknownOutcome
    response = Response(json.loads(row.answer or "null"), status=row.status)
    response["Idempotency-Replayed"] = "true"
    return response


class PageSizePagination(PageNumberPagination):
    """Pagination by ``page`` and ``page_size``."""

    page_size_query_param = "page_size"
    max_page_size = 1000  # rows; stated on the page of the API


class TooEarly(APIException):
    """Response 409 with Retry-After: what the request needs is still being computed."""

    status_code = 409
    default_code = "too_early"
    wait = 5  # seconds; DRF sends it as Retry-After


class UnknownOutcome(APIException):
    """Response 409: the first request with this idempotency key failed or was killed."""

    status_code = 409
    default_code = "unknown_outcome"
    default_detail = (
        "The first request with this idempotency key has no answer: it may have taken effect. Look, then "
        "send another key."
    )


class Unprocessable(APIException):
    """Response 422 with the message of a ``BadInput``."""

    status_code = 422
    default_code = "bad_input"


def error_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return any handled error as ``{"code", "message"[, "fields"]}``; ``None`` for unexpected exceptions."""
    if isinstance(error, StillComputing):
        error = TooEarly(str(error))
    elif isinstance(error, BadInput):
        input_code = "unknown_name" if isinstance(error, UnknownName) else "bad_input"
        error = Unprocessable(str(error), code=input_code)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, ValidationError):
        response.data = {"code": "invalid", "message": "Some fields are not valid.", "fields": response.data}
        return response
    detail = response.data.get("detail", "") if isinstance(response.data, dict) else ""
    code = detail.code if isinstance(detail, ErrorDetail) else "error"
    response.data = {"code": code, "message": str(detail)}
    return response
