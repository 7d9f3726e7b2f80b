"""Errors sent to Sentry, where an address is set and the extra ``sentry`` is installed."""

import re
from typing import Any

from django.core.exceptions import ImproperlyConfigured

TOKENS = re.compile(r"(/s/|/sessions/)[-\w]+")


def start_sentry(address: str) -> None:
    """Send errors from now on."""
    try:
        import sentry_sdk
    except ImportError:
        raise ImproperlyConfigured(
            "SENTRY_DSN is set, but its library is not installed: .venv/bin/pip install sentry-sdk."
        ) from None
    # What people typed is in local variables, bodies and cookies.
    sentry_sdk.init(
        dsn=address,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        before_send=without_tokens,
        traces_sample_rate=0,
    )


def without_tokens(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    """Remove the tokens of participants from the address of the request, with cookies and parameters."""
    request = event.get("request", {})
    event["request"] = {
        "method": request.get("method", ""),
        "url": TOKENS.sub(r"\1…", str(request.get("url", "")).partition("?")[0]),
    }
    if "transaction" in event:
        event["transaction"] = TOKENS.sub(r"\1…", str(event["transaction"]))
    return event
