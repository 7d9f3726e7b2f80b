"""Something between the page and the server that stops what scripts send, and the forms that go instead."""

import json

from playwright.sync_api import Page, Request

from judgments.models import Judgment, Session, SessionEvent

ANSWERS = "**/api/v1/sessions/*/judgments/"
OF_PAGES = {"document", "script", "stylesheet", "image"}
WAITING = "Answers to be saved with the next page"


def block(page: Page, address: str = ANSWERS) -> None:
    """Stop requests of scripts to this address, as an extension does; pages come as ever."""
    page.context.route(
        address, lambda route: route.fallback() if route.request.resource_type in OF_PAGES else route.abort()
    )


def impatient(page: Page) -> None:
    """Let the engine take a second, in place of twenty, for enough to know that it is blocked."""

    def sooner(route):
        reply = route.fetch()
        text = reply.text()
        assert "BARRED_MS, LOOK_MS] = [200, 3, 20_000, 5000]" in text
        route.fulfill(response=reply, body=text.replace("20_000, 5000]", "1000, 5000]"))

    page.context.route("**/engine/sender.js", sooner)


def forms(page: Page) -> list[list[str]]:
    """The trials that each form takes along, from now on."""
    sent: list[list[str]] = []

    def note(request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/handed/"):
            assert request.resource_type == "document"
            data = json.loads(request.post_data_json["sent"])
            sent.append([judgment["trial"] for judgment in data["judgments"]])

    page.context.on("request", note)
    return sent


def all_stored_once(session: Session, n: int) -> None:
    """Every trial has its one answer with its time, and the session has its code."""
    session.refresh_from_db()
    assert session.status == "complete" and session.completion_code
    judgments = Judgment.objects.filter(trial__session=session)
    assert judgments.count() == n == session.trials.count()
    assert all(judgment.rt_ms >= 200 and judgment.input_type == "keyboard" for judgment in judgments)
    assert not any("no_rt" in judgment.timing for judgment in judgments)
    assert not SessionEvent.objects.filter(kind="conflict").exists()
