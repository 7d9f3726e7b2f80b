"""Errors sent to Sentry, where an address is set and the extra ``sentry`` is installed."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.http.log_redaction import redact

#: Parts of an event that hold typed text, or the subject of a request or command: breadcrumbs are the
#: addresses of calls to platforms and lines of the log, ``extra`` is the command line.
LEFT_OUT = ("breadcrumbs", "extra", "user")


def start_sentry(address: str) -> None:
    """Send errors from now on."""
    try:
        import sentry_sdk
    except ImportError:
        raise ImproperlyConfigured(
            "SENTRY_DSN is set, but its library is not installed: make install-sentry."
        ) from None
    # The library has a type of its own for events, and is not always installed.
    before_send: Any = without_persons
    # Typed text is in local variables, bodies and cookies.
    sentry_sdk.init(
        dsn=address,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        before_send=before_send,
        max_breadcrumbs=0,
        traces_sample_rate=0,
    )


def without_persons(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    """Remove what names a person or proves something; addresses keep their path, without tokens."""
    request = event.get("request", {})
    shown: dict[str, Any] = _redact_content(
        {name: value for name, value in event.items() if name not in LEFT_OUT}
    )
    shown["request"] = {
        "method": request.get("method", ""),
        "url": redact(str(request.get("url", "")).partition("?")[0]),
    }
    for entry in shown.get("exception", {}).get("values", ()):
        entry.pop("value", None)  # messages quote what was typed; the type and the place are enough
    if "logentry" in shown:
        shown["logentry"] = {"message": shown["logentry"].get("message", "")}  # without its arguments
    return shown


def _redact_content(content: Any) -> Any:
    """The same document with secrets removed from every text."""
    if isinstance(content, str):
        return redact(content)
    if isinstance(content, dict):
        return {name: _redact_content(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_redact_content(value) for value in content]
    return content
