"""Bases of the REST API: serializers, views, pages and error responses.

An unknown key or parameter is an error, never ignored.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar

from django.db.models import Model
from rest_framework import mixins, serializers
from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.pagination import PageNumberPagination
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

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse unknown and repeated query parameters, and the body of a deletion."""
        super().initial(request, *args, **kwargs)
        query = request.query_params
        refuse_unknown(query, self._query_names(request) if request.method in {"GET", "HEAD"} else ())
        if repeated := {name: ["Send it once."] for name in query if len(query.getlist(name)) > 1}:
            raise ValidationError(repeated)
        if request.method == "DELETE":
            self.refuse_body()

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
        """The validated query parameters."""
        assert self.query_class is not None
        choices = self.query_class(data=self.request.query_params.dict())
        choices.is_valid(raise_exception=True)
        validated: dict[str, Any] = choices.validated_data
        return validated


class PageSizePagination(PageNumberPagination):
    """Pagination by ``page`` and ``page_size``."""

    page_size_query_param = "page_size"
    max_page_size = 1000  # rows; stated on the page of the API


class TooEarly(APIException):
    """Response 409 with Retry-After: what the request needs is still being computed."""

    status_code = 409
    default_code = "too_early"
    wait = 5  # seconds; DRF sends it as Retry-After


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
