"""A small browser without JavaScript: gets pages, reads their forms, sends them.

It stands in for a participant's browser in simulation, inside this process or against a live server.
"""

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, Request, build_opener

from django.conf import settings
from django.test import Client

from analysis.errors import BadInput

CHOICES = {"radio", "checkbox", "submit"}


@dataclass
class Form:
    """A form as it stands in the page."""

    action: str
    method: str
    hidden: dict[str, str] = field(default_factory=dict)
    offered: dict[str, list[str]] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)

    def takes(self, name: str, value: str) -> bool:
        """Whether a person could send this value with this form."""
        return name in self.typed or value in self.offered.get(name, ())

    def names(self) -> set[str]:
        """Fields a person fills in or buttons a person may press."""
        return set(self.offered) | self.typed


@dataclass(frozen=True)
class Page:
    """One answer of the server."""

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
        _, _, rest = self.text.partition("<title>")
        return " ".join(rest.partition("</title>")[0].split())


@dataclass(frozen=True)
class Document:
    """One answer of the API."""

    status: int
    body: dict[str, Any]


class Browser(Protocol):
    """Gets and sends, following redirects."""

    def get(self, url: str) -> Page:
        """Open an address."""

    def post(self, url: str, data: dict[str, str | list[str]]) -> Page:
        """Send a form."""

    def fetch(self, url: str) -> Document:
        """Get a document of the API."""

    def send(self, url: str, body: dict[str, Any]) -> Document:
        """Send JSON to the API."""


class InProcess:
    """Goes through this process's own addresses: every middleware, no network."""

    def __init__(self) -> None:
        hosts = [host for host in settings.ALLOWED_HOSTS if host.strip("*.") == host]
        self.client = Client(SERVER_NAME=hosts[0] if hosts else "localhost")

    def get(self, url: str) -> Page:
        """Open an address."""
        return self._page(url, self.client.get(url, follow=True, secure=settings.SECURE_SSL_REDIRECT))

    def post(self, url: str, data: dict[str, str | list[str]]) -> Page:
        """Send a form."""
        sent = self.client.post(url, data, follow=True, secure=settings.SECURE_SSL_REDIRECT)
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

    def _page(self, url: str, response) -> Page:
        last = response.redirect_chain[-1][0] if response.redirect_chain else url
        return Page(urljoin(url, last), response.status_code, response.content.decode())


class Live:
    """Goes to a running server."""

    def __init__(self, address: str) -> None:
        if not address.startswith(("http://", "https://")):
            raise BadInput(f"{address!r} is no address.", remedy="Write for example http://127.0.0.1:8000/.")
        self.address = address
        self.opener = build_opener(HTTPCookieProcessor())

    def get(self, url: str) -> Page:
        """Open an address."""
        return self._page(Request(urljoin(self.address, url)))

    def post(self, url: str, data: dict[str, str | list[str]]) -> Page:
        """Send a form."""
        return self._page(Request(urljoin(self.address, url), urlencode(data, doseq=True).encode()))

    def fetch(self, url: str) -> Document:
        """Get a document of the API."""
        return self._document(Request(urljoin(self.address, url)))

    def send(self, url: str, body: dict[str, Any]) -> Document:
        """Send JSON to the API."""
        headers = {"Content-Type": "application/json"}
        return self._document(Request(urljoin(self.address, url), json.dumps(body).encode(), headers))

    def _page(self, request: Request) -> Page:
        with self._answer(request) as response:
            return Page(response.url, response.status, response.read().decode())

    def _document(self, request: Request) -> Document:
        with self._answer(request) as response:
            text = response.read().decode()
        try:
            return Document(response.status, json.loads(text))
        except ValueError:
            return Document(response.status, {"message": text[:200]})

    def _answer(self, request: Request) -> Any:
        try:
            return self.opener.open(request, timeout=60)
        except HTTPError as error:
            return error
        except URLError as error:
            raise BadInput(
                f"nobody answers at {request.full_url}: {error.reason}.", remedy="Start the server first."
            ) from error


class _FormReader(HTMLParser):
    """Collects forms and what they offer; fields may stand outside and name their form by id."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.inside = False
        self.by_id: dict[str, Form] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a form or one of its fields."""
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get").lower()))
            self.by_id[given.get("id", "")] = self.forms[-1]
            self.inside = True
        form = self.by_id.get(given["form"]) if "form" in given else self.forms[-1] if self.inside else None
        if form is not None and given.get("name") and tag in {"input", "button", "textarea", "select"}:
            _note(form, tag, given)

    def handle_endtag(self, tag: str) -> None:
        """Leave a form."""
        if tag == "form":
            self.inside = False


def _note(form: Form, tag: str, given: dict[str, str]) -> None:
    kind = given.get("type", "submit" if tag == "button" else "text")
    if kind == "hidden":
        form.hidden[given["name"]] = given.get("value", "")
    elif kind in CHOICES:
        form.offered.setdefault(given["name"], []).append(given.get("value", "on"))
    else:
        form.typed.add(given["name"])
