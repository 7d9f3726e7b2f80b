"""Content-Security-Policy header of every response."""

from functools import cache

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest
from django.http.response import HttpResponseBase

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
# Attributes that the decorators of django-csp set on a response.
OVERRIDES = ("_csp_exempt", "_csp_config", "_csp_update", "_csp_replace")


class ContentPolicy(CSPMiddleware):
    """Sets the policy of the settings on pages, and one that allows nothing on JSON."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set the header."""
        if response.headers.get("Content-Type") == "application/json":
            response.headers.setdefault(HEADER, DATA_POLICY)
            return response
        if response.status_code >= 400 or _is_special(request, response):
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, _default_policy())
        return response


def _is_special(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether the response or a nonce needs another policy than the default."""
    return getattr(request, "_csp_nonce", None) is not None or any(
        hasattr(response, name) for name in OVERRIDES
    )


@cache  # django-csp rebuilds the header for every response
def _default_policy() -> str:
    return build_policy()
