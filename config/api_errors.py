"""Error responses and pagination of the REST API."""

from typing import Any

from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import exception_handler

from analysis.errors import BadInput, UnknownName


class PageSizePagination(PageNumberPagination):
    """Pagination by ``page`` and ``page_size``."""

    page_size_query_param = "page_size"
    max_page_size = 1000  # rows; stated on the page of the API


class Unprocessable(APIException):
    """Response 422 with the message of a ``BadInput``."""

    status_code = 422
    default_code = "bad_input"


def error_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return any handled error as ``{"code", "message"[, "fields"]}``; ``None`` for unexpected exceptions."""
    if isinstance(error, BadInput):
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
