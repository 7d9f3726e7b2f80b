"""Errors and pages of the REST API: a stable ``code`` beside every message."""

from typing import Any

from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import exception_handler

from analysis.errors import BadInput, UnknownName


class Pages(PageNumberPagination):
    """``page`` and ``page_size`` (at most 1,000)."""

    page_size_query_param = "page_size"
    max_page_size = 1000


class Unprocessable(APIException):
    """Input that cannot be used; carries the message of a BadInput."""

    status_code = 422
    default_code = "bad_input"


def explain(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer every error as ``{"code", "message"[, "fields"]}``."""
    if isinstance(error, BadInput):
        code = "unknown_name" if isinstance(error, UnknownName) else "bad_input"
        error = Unprocessable(str(error), code=code)
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
