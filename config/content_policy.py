"""What a browser may do with an answer of ours."""

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"


class ContentPolicy(CSPMiddleware):
    """Pages follow the settings; data may do nothing at all, and costs no building of a policy."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set the policy's header."""
        if response.headers.get("Content-Type") == "application/json":
            response.headers.setdefault(HEADER, DATA_POLICY)
            return response
        return super().process_response(request, response)
