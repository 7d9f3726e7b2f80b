"""Walk a session as a browser without JavaScript does: read the form on the page, send it, follow."""

import re
from html import unescape

from django.test import Client

INPUT = re.compile(r"<(?:input|button)[^>]*>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


def fields(html: str) -> list[dict[str, str]]:
    """Attributes of every input and button of a page."""
    return [{name: unescape(value) for name, value in ATTRIBUTE.findall(tag)} for tag in INPUT.findall(html)]


def hidden(html: str, name: str) -> str:
    """Value of a hidden field."""
    return next(
        field["value"]
        for field in fields(html)
        if field.get("name") == name and field.get("type") == "hidden"
    )


def choices(html: str) -> list[str]:
    """Values of the radio buttons of a trial, in order."""
    return [
        field["value"]
        for field in fields(html)
        if field.get("name") == "response" and field["type"] == "radio"
    ]


def action(html: str) -> str:
    """Where the page's form goes."""
    return unescape(re.search(r'<form[^>]*action="([^"]*)"', html)[1])


def consent(client: Client, address: str) -> str:
    """Agree; give the address of the session."""
    html = client.get(address).content.decode()
    response = client.post(address, {"arrival": hidden(html, "arrival"), "consent": "yes"})
    assert response.status_code == 302, response.content.decode()
    return response["Location"]


def onward(client: Client, session: str) -> None:
    """Press the one button of a page between trials."""
    html = client.get(session).content.decode()
    assert client.post(action(html), {"mark": hidden(html, "mark")}).status_code == 302


def answer(client: Client, session: str, response: str = "") -> None:
    """Answer the trial that is shown: the first option unless told otherwise."""
    html = client.get(session).content.decode()
    sent = response or choices(html)[0]
    assert client.post(action(html), {"response": sent}).status_code == 302
