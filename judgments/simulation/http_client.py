"""HTTP clients of the simulation: fetch pages, parse their forms and submit them, without JavaScript."""

import secrets
import time
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin

import httpx
from django.conf import settings
from django.test import Client

from analysis.errors import BadInput

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse  # a name of the stubs only

CHOICES = {"radio", "checkbox", "submit"}


@dataclass
class Form:
    """A form of a page."""

    action: str
    method: str
    hidden: dict[str, str] = field(default_factory=dict)
    offered: dict[str, list[str]] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)

    def takes(self, name: str, value: str) -> bool:
        """Whether a participant could send this value with this form."""
        return name in self.typed or value in self.offered.get(name, ())

    def names(self) -> set[str]:
        """Names of the fields and buttons."""
        return set(self.offered) | self.typed


@dataclass(frozen=True)
class Page:
    """A page returned by the server."""

    url: str
    status: int
    text: str

    def forms(self) -> list[Form]:
        """Forms of the page that send something, their actions as whole addresses."""
        reader = _FormReader()
        reader.feed(self.text)
        for form in reader.forms:
            form.action = urljoin(self.url, form.action)
        return [form for form in reader.forms if form.method == "post"]

    def title(self) -> str:
        """Title of the page, for messages."""
        _, _, after = self.text.partition("<title>")
        return " ".join(after.partition("</title>")[0].split())


@dataclass(frozen=True)
class Document:
    """A JSON response of the API."""

    status: int
    body: dict[str, Any]


class Browser(Protocol):
    """Sends requests and follows redirects."""

    def get(self, url: str) -> Page:
        """Open an address."""

    def post(self, url: str, data: dict[str, str | list[str]]) -> Page:
        """Send a form."""

    def fetch(self, url: str) -> Document:
        """Get a document of the API."""

    def send(self, url: str, body: dict[str, Any]) -> Document:
        """Send JSON to the API."""


class InProcess:
    """Calls this process's own URLs: with every middleware, without a network."""

    def __init__(self) -> None:
        hosts = [host for host in settings.ALLOWED_HOSTS if host.strip("*.") == host]
        self.client = Client(SERVER_NAME=hosts[0] if hosts else "localhost")

    def get(self, url: str) -> Page:
        """Open an address."""
        return self._page(url, self.client.get(url, follow=True, secure=settings.SECURE_SSL_REDIRECT))

    def post(self, url: str, data: dict[str, str | list[str]]) -> Page:
        """Send a form."""
        sent = self.client.post(
            url, data, follow=True, secure=settings.SECURE_SSL_REDIRECT, REMOTE_ADDR=_own_address()
        )
        return self._page(url, sent)

    def fetch(self, url: str) -> Document:
        """Get a document of the API."""
        response = self.client.get(url, secure=settings.SECURE_SSL_REDIRECT)
        return Document(response.status_code, response.json())

    def send(self, url: str, body: dict[str, Any]) -> Document:
        """Send JSON to the API."""
        response = self.client.post(
            url, body, content_type="application/json", secure=settings.SECURE_SSL_REDIRECT
        )
        return Document(response.status_code, response.json())

    def _page(self, url: str, response: "_MonkeyPatchedWSGIResponse") -> Page:
        last = response.redirect_chain[-1][0] if response.redirect_chain else url
        return Page(urljoin(url, last), response.status_code, response.content.decode())


def _own_address() -> str:
    """A random private network, because simulated participants do not share one."""
    return f"fd00:{secrets.token_hex(2)}:{secrets.token_hex(2)}:{secrets.token_hex(2)}::1"


class Live:
    """Calls a running server; waits where it limits the arrivals from one network."""

    def __init__(self, address: str) -> None:
        if not address.startswith(("http://", "https://")):
            raise BadInput(f"{address!r} is no address.", remedy="Write for example http://127.0.0.1:8000/.")
        self.address = address
        self.client = httpx.Client(follow_redirects=True, timeout=60)

    def get(self, url: str) -> Page:
        """Open an address."""
        return self._page("GET", url)

    def post(self, url: str, data: dict[str, str | list[str]]) -> Page:
        """Send a form."""
        return self._page("POST", url, data=data)

    def fetch(self, url: str) -> Document:
        """Get a document of the API."""
        return self._document("GET", url)

    def send(self, url: str, body: dict[str, Any]) -> Document:
        """Send JSON to the API."""
        return self._document("POST", url, json=body)

    def _page(self, method: str, url: str, **content: Any) -> Page:
        response = self._request(method, url, **content)
        return Page(str(response.url), response.status_code, response.text)

    def _document(self, method: str, url: str, **content: Any) -> Document:
        response = self._request(method, url, **content)
        try:
            return Document(response.status_code, response.json())
        except ValueError:
            return Document(response.status_code, {"message": response.text[:200]})

    def _request(self, method: str, url: str, **content: Any) -> httpx.Response:
        while True:
            try:
                response = self.client.request(method, urljoin(self.address, url), **content)
            except httpx.TransportError as error:
                raise BadInput(
                    f"no response from {urljoin(self.address, url)}: {error}.",
                    remedy="Start the server first.",
                ) from error
            if response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
                return response
            time.sleep(int(response.headers.get("Retry-After", "1")))


class _FormReader(HTMLParser):
    """Collect forms and their fields; a field outside its form refers to it by id."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.inside = False
        self.by_id: dict[str, Form] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a form or one of its fields."""
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(attributes.get("action", ""), attributes.get("method", "get").lower()))
            self.by_id[attributes.get("id", "")] = self.forms[-1]
            self.inside = True
        form = (
            self.by_id.get(attributes["form"])
            if "form" in attributes
            else self.forms[-1]
            if self.inside
            else None
        )
        if form is not None and attributes.get("name") and tag in {"input", "button", "textarea", "select"}:
            _note(form, tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        """Leave a form."""
        if tag == "form":
            self.inside = False


def _note(form: Form, tag: str, attributes: dict[str, str]) -> None:
    kind = attributes.get("type", "submit" if tag == "button" else "text")
    if kind == "hidden":
        form.hidden[attributes["name"]] = attributes.get("value", "")
    elif kind in CHOICES:
        form.offered.setdefault(attributes["name"], []).append(attributes.get("value", "on"))
    else:
        form.typed.add(attributes["name"])
