"""What a browser may do with an answer of ours."""

from functools import cache

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
OF_ITS_OWN = ("_csp_exempt", "_csp_config", "_csp_update", "_csp_replace")


class ContentPolicy(CSPMiddleware):
    """Pages follow the settings; data may do nothing at all. The usual policy is put together once."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set the policy's header."""
        if response.headers.get("Content-Type") == "application/json":
            response.headers.setdefault(HEADER, DATA_POLICY)
            return response
        if response.status_code >= 400 or _is_special(request, response):
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, _usual())
        return response


def _is_special(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether the answer, its address or a nonce asks for another policy than the usual one."""
    exempt = tuple(settings.CONTENT_SECURITY_POLICY["EXCLUDE_URL_PREFIXES"])
    return (
        request.path_info.startswith(exempt)
        or getattr(request, "_csp_nonce", None) is not None
        or any(hasattr(response, name) for name in OF_ITS_OWN)
    )


@cache
def _usual() -> str:
    return build_policy()
