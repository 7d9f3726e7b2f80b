"""A local double of Prolific: its API with the documented states and limits, and a small participant's side.

Start it by hand with ``python -m tools.doubles.prolific --port 8602``; ``/play/`` is the participants' page,
with the faults to inject and the money that was paid.
"""

import argparse
import contextlib
import html
import json
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema

from tools.doubles import serving
from tools.doubles.faults import Fault, FaultKind, Faults
from tools.doubles.prolific_platform import (
    EVENT_TYPES,
    FILTERS,
    ApiError,
    PlayError,
    ProlificPlatform,
    Subscription,
)
from tools.doubles.prolific_shapes import BASE, ENDPOINTS, ERROR, MINIMUM_PAGE_SIZE, PAGE_SIZE_LIMIT

DEFAULT_PAGE_SIZE = 20
RETRY_AFTER_S = 1
Json = Any
Query = dict[str, str]


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace("ID", "([0-9a-f]{24})") + "$")


ROUTES = [(method, _pattern(path), path) for method, path in ENDPOINTS]
CREATES = {
    ("POST", "/studies/"),
    ("POST", "/participant-groups/"),
    ("POST", "/submissions/bonus-payments/"),
    ("POST", "/hooks/secrets/"),
    ("POST", "/hooks/subscriptions/"),
}
STATUS_OF = {
    **dict.fromkeys(CREATES, 201),
    ("POST", "/bulk-bonus-payments/ID/pay/"): 202,
    ("POST", "/submissions/bulk-approve/"): 202,
    ("POST", "/messages/"): 204,
    ("DELETE", "/studies/ID/"): 204,
    ("DELETE", "/hooks/subscriptions/ID/"): 204,
}


class ProlificDouble(ThreadingHTTPServer):
    """The server with its platform, its faults and the requests that it got."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, platform: ProlificPlatform | None = None, *, port: int = 0) -> None:
        self.platform = platform or ProlificPlatform()
        self.faults = Faults()
        self.requests: Counter[tuple[str, str]] = Counter()
        self.shape_errors: list[str] = []  # answers of the double that contradict the reference
        self.count_lock = Lock()
        self.at_close = contextlib.ExitStack()
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def count(self, method: str, path: str) -> int:
        """Number of requests to an endpoint, such as ``("POST", "/bulk-bonus-payments/ID/pay/")``."""
        with self.count_lock:
            return self.requests[method, path]

    def fail_next(self, kind: str, n: int = 1, **where: Any) -> None:
        """Let the next ``n`` matching requests fail; see :class:`~tools.doubles.faults.Fault`."""
        self.faults.fail_next(kind, times=n, **where)

    def arrive(self, study: str, person: str = "") -> str:
        """Let a participant take a place; returns the submission."""
        return self.platform.take_place(study, person)["submission"]

    def submit(self, submission: str, code: str = "") -> None:
        """Let a participant submit with a code."""
        self.platform.enter_code(submission, code)

    def return_(self, submission: str) -> None:
        """Let a participant return a submission."""
        self.platform.return_submission(submission)

    def time_out(self, submission: str) -> None:
        """Let the time of a submission end."""
        self.platform.time_out(submission)

    def money(self) -> dict[tuple[Any, ...], int]:
        """How often each reward and each bonus was paid."""
        self.platform.run_due(all_of_them=True)
        with self.platform.lock:
            return dict(
                Counter(
                    ("bonus", row.submission, row.amount)
                    if row.kind == "bonus"
                    else (row.kind, row.submission)
                    for row in self.platform.movements
                )
            )

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that went away; raise everything else to the log."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def running(platform: ProlificPlatform | None = None) -> Iterator[ProlificDouble]:
    """A double that serves in a thread until the block ends."""
    server = ProlificDouble(platform)
    with server.at_close, serving(server):
        yield server


def account(double: ProlificDouble, study: Any, by: Any) -> Any:
    """An account of the study with the double's token; until the double ends, the settings lead to it."""
    # Started by hand, the double needs no database.
    from django.test import override_settings

    from judgments.recruitment import credentials

    override = override_settings(PROLIFIC_URL=double.url, PROLIFIC_WEB_URL=double.url)
    override.enable()
    double.at_close.callback(override.disable)
    return credentials.add_account(
        study,
        platform="prolific",
        label="Double",
        secrets={"token": double.platform.token},
        by=by,
        options={"currency": double.platform.currency},
    )


class Handler(BaseHTTPRequestHandler):
    """One request: fault, authentication, shape of the request, platform, shape of the answer."""

    server: ProlificDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body would wait 40 ms until the headers are acknowledged

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the requests are counted."""

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if parts.path == "/.well-known/study/jwks.json" and self.command == "GET":
            self._handle_keys()
        elif parts.path.startswith(f"{BASE}/"):
            self._handle_api(parts.path.removeprefix(BASE), query, raw)
        else:
            Play(self, query, raw).handle(parts.path)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle

    def _handle_keys(self) -> None:
        path = "/.well-known/study/jwks.json"
        with self.server.count_lock:
            self.server.requests["GET", path] += 1
        fault = self.server.faults.next_of("GET", path)
        self._answer_with(fault, 200, self.server.platform.public_keys)

    def _handle_api(self, path: str, query: Query, raw: bytes) -> None:
        route, ids = next(
            (
                ((method, name), match.groups())
                for method, pattern, name in ROUTES
                if method == self.command and (match := pattern.match(path))
            ),
            (None, ()),
        )
        with self.server.count_lock:
            self.server.requests[route or (self.command, path)] += 1
        fault = self.server.faults.next_of(self.command, path)
        self.server.platform.run_due()

        def act() -> Json:
            if self.headers.get("Authorization") != f"Token {self.server.platform.token}":
                raise ApiError(401, "Unauthorized", "Authentication credentials were not valid.", code=140100)
            if route is None:
                raise ApiError(404, "Not found", "There is no such endpoint.", code=140400)
            request_shape, answer_shape = ENDPOINTS[route]
            body = self._checked_body(request_shape, raw)
            answer = Endpoint(self.server.platform, query, self).call(route, ids, body)
            self._check_answer(route, answer_shape, answer)
            return answer

        self._answer_with(fault, STATUS_OF.get(route, 200) if route else 404, act)

    def _checked_body(self, shape: Json, raw: bytes) -> Json:
        if shape is None:
            return None
        try:
            body = json.loads(raw)
        except ValueError:
            raise ApiError(400, "Bad request", "The body is not JSON.") from None
        problems: dict[str, list[str]] = {}
        for error in jsonschema.Draft202012Validator(shape).iter_errors(body):
            name = str(error.absolute_path[0]) if error.absolute_path else "body"
            problems.setdefault(name, []).append(error.message[:300])
        if problems:
            raise ApiError(400, "Validation error", problems)
        return body

    def _check_answer(self, route: tuple[str, str], shape: Json, answer: Json) -> None:
        errors = list(jsonschema.Draft202012Validator(shape).iter_errors(answer)) if shape else []
        for error in errors:
            with self.server.count_lock:
                self.server.shape_errors.append(f"{route}: {error.json_path}: {error.message}")

    def _answer_with(self, fault: Fault | None, status: int, act: Callable[[], Json]) -> None:
        kind = fault.kind if fault else None
        if kind == FaultKind.LOST_REQUEST:
            return self._hang_up()
        if kind in {FaultKind.RATE_LIMIT, FaultKind.RATE_LIMIT_BARE}:
            headers = {"Retry-After": str(RETRY_AFTER_S)} if kind == FaultKind.RATE_LIMIT else {}
            return self._send(*_error(ApiError(429, "Too many requests", "Slow down.")), headers)
        if kind == FaultKind.SERVER_ERROR:
            return self._send(503, b"<html>Service Unavailable</html>", {"Content-Type": "text/html"})
        if kind == FaultKind.EXPIRED_TOKEN:
            return self._send(*_error(ApiError(401, "Unauthorized", "Token expired.", code=140100)))
        try:
            answer = act()
            body = b"" if answer is None else json.dumps(answer).encode()
        except ApiError as error:
            status, body = _error(error)
        if kind == FaultKind.LOST_ANSWER:
            return self._hang_up()
        if kind == FaultKind.SERVER_ERROR_AFTER:
            return self._send(502, b"<html>Bad Gateway</html>", {"Content-Type": "text/html"})
        if kind == FaultKind.MALFORMED:
            body = body[: len(body) // 2] or b"{"
        if kind == FaultKind.SLOW and fault is not None:
            time.sleep(fault.seconds)
        self._send(status, body, getattr(self, "more_headers", {}))

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | (headers or {})).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)
        self.more_headers = {}


def _error(error: ApiError) -> tuple[int, bytes]:
    content = {
        "error": {
            "status": error.status,
            "error_code": error.code,
            "title": error.title,
            "detail": error.detail,
        }
    }
    jsonschema.validate(content, ERROR)
    return error.status, json.dumps(content).encode()


class Endpoint:
    """The API's endpoints on the platform."""

    def __init__(self, platform: ProlificPlatform, query: Query, handler: Handler) -> None:
        self.platform, self.query, self.handler = platform, query, handler

    def call(self, route: tuple[str, str], ids: tuple[str, ...], body: Json) -> Json:
        """Answer a request whose shape is checked."""
        platform, query = self.platform, self.query
        answers: dict[tuple[str, str], Callable[..., Json]] = {
            ("GET", "/users/me/"): lambda: {"id": platform.user_id, "email": "ada@example.org"},
            ("GET", "/workspaces/"): lambda: _results([{"id": platform.workspace_id, "title": "Laboratory"}]),
            ("GET", "/workspaces/ID/balance/"): self._balance,
            ("GET", "/workspaces/ID/projects/"): self._projects,
            ("GET", "/projects/ID/studies/"): lambda number: self._page(platform.studies_of_project(number)),
            ("POST", "/studies/"): lambda: platform.new_study(body),
            ("GET", "/studies/ID/"): platform.study,
            ("PATCH", "/studies/ID/"): lambda number: platform.change_study(number, body),
            ("DELETE", "/studies/ID/"): platform.delete_study,
            ("POST", "/studies/ID/transition/"): lambda number: platform.transition(number, body["action"]),
            ("GET", "/studies/ID/cost/"): platform.cost_of,
            ("GET", "/studies/ID/submissions/counts/"): platform.counts,
            ("POST", "/study-cost-calculator/"): lambda: platform.cost_before(
                body["reward"], body["total_available_places"]
            ),
            ("GET", "/reward-recommendations/"): lambda: platform.recommendations(query.get("currency", "")),
            ("GET", "/filters/"): lambda: _results(FILTERS),
            ("POST", "/eligibility-count/"): lambda: platform.eligible(body["filters"]),
            ("GET", "/participant-groups/"): lambda: _results(list(platform.groups.values())),
            ("POST", "/participant-groups/"): lambda: platform.new_group(body),
            ("GET", "/participant-groups/ID/participants/"): lambda number: _results(
                platform.members_of(number)
            ),
            ("POST", "/participant-groups/ID/participants/"): lambda number: _results(
                platform.add_members(number, body["participant_ids"])
            ),
            ("DELETE", "/participant-groups/ID/participants/"): lambda number: _results(
                platform.remove_members(number, body["participant_ids"])
            ),
            ("GET", "/submissions/"): self._submissions,
            ("GET", "/submissions/ID/"): platform.submission,
            ("POST", "/submissions/ID/transition/"): lambda number: platform.decide(number, body),
            ("POST", "/submissions/ID/request-return/"): platform.request_return,
            ("POST", "/submissions/bulk-approve/"): lambda: platform.bulk_approve(body["submission_ids"]),
            ("POST", "/submissions/bonus-payments/"): lambda: platform.set_up_bonuses(
                body["study_id"], body["csv_bonuses"]
            ),
            ("POST", "/bulk-bonus-payments/ID/pay/"): platform.pay_bonuses,
            ("POST", "/messages/"): lambda: platform.send_message(body),
            ("GET", "/messages/"): lambda: _results(
                platform.messages_with(query.get("user_id", ""), query.get("created_after", ""))
            ),
            ("GET", "/hooks/event-types/"): lambda: _results(
                [{"event_type": name, "description": text} for name, text in EVENT_TYPES.items()]
            ),
            ("POST", "/hooks/secrets/"): lambda: platform.new_secret(body["workspace_id"]),
            ("GET", "/hooks/subscriptions/"): lambda: _results(
                [self._subscription(row) for row in platform.subscriptions.values()]
            ),
            ("POST", "/hooks/subscriptions/"): lambda: self._subscribe(body),
            ("POST", "/hooks/subscriptions/ID/"): lambda number: self._subscription(
                platform.confirm(number, body["secret"])
            ),
            ("PATCH", "/hooks/subscriptions/ID/"): lambda number: self._switch(number, body["is_enabled"]),
            ("DELETE", "/hooks/subscriptions/ID/"): self._unsubscribe,
            ("GET", "/hooks/subscriptions/ID/events/"): self._events,
        }
        return answers[route](*ids)

    def _balance(self, workspace_id: str) -> Json:
        self.platform.check_workspace(workspace_id)
        return self.platform.balance_of()

    def _projects(self, workspace_id: str) -> Json:
        self.platform.check_workspace(workspace_id)
        return _results([{"id": self.platform.project_id, "title": "Project"}])

    def _submissions(self) -> Json:
        if not self.query.get("study"):
            raise ApiError(400, "Validation error", {"study": ["This parameter is required."]})
        rows = self.platform.submissions_of_list(self.query["study"])
        if status := self.query.get("status"):
            rows = [row for row in rows if re.sub("[ -]", "_", row["status"]) == status]
        return self._page(rows)

    def _page(self, rows: list[Json]) -> Json:
        try:
            number, size = (
                int(self.query.get("page", 1)),
                int(self.query.get("page_size", DEFAULT_PAGE_SIZE)),
            )
        except ValueError:
            raise ApiError(400, "Validation error", "page and page_size are numbers.") from None
        size = max(MINIMUM_PAGE_SIZE, min(size, PAGE_SIZE_LIMIT))
        last = max(1, -(-len(rows) // size))
        if not 1 <= number <= last:
            raise ApiError(404, "Not found", "Invalid page.")

        def link(page: int | None) -> dict[str, str | None]:
            if page is None:
                return {"href": None}
            address = urlsplit(self.handler.path)._replace(query="").geturl()
            extra = "".join(
                f"&{name}={self.query[name]}" for name in ("study", "status") if name in self.query
            )
            return {"href": f"{self.handler.server.url}{address}?page={page}&page_size={size}{extra}"}

        return {
            "results": rows[(number - 1) * size : number * size],
            "_links": {
                "self": link(number),
                "next": link(number + 1 if number < last else None),
                "previous": link(number - 1 if number > 1 else None),
                "last": link(last),
            },
            "meta": {"count": len(rows)},
        }

    def _subscription(self, row: Subscription) -> Json:
        return {
            "id": row.id,
            "workspace_id": self.platform.workspace_id,
            "event_type": row.event_type,
            "target_url": row.target_url,
            "is_enabled": row.is_enabled,
        }

    def _subscribe(self, body: Json) -> Json:
        subscription = self.platform.subscribe(body)
        self.handler.more_headers = {"X-Hook-Secret": subscription.secret}
        return self._subscription(subscription)

    def _switch(self, number: str, is_enabled: bool) -> Json:
        subscription = self.platform.subscription(number)
        subscription.is_enabled = is_enabled
        return self._subscription(subscription)

    def _unsubscribe(self, number: str) -> None:
        self.platform.subscription(number).is_enabled = False
        with self.platform.lock:
            del self.platform.subscriptions[number]

    def _events(self, number: str) -> Json:
        self.platform.subscription(number)
        rows = []
        for event in self.platform.events:
            if event.subscription.id == number:
                content = json.loads(event.body)
                rows.append(
                    {
                        "id": event.id[:24],
                        "event_type": content["event_type"],
                        "resource_id": content["resource_id"],
                        "status": "SUCCEEDED" if event.is_delivered else "PENDING",
                        "attempts": event.attempts,
                    }
                )
        offset, limit = int(self.query.get("offset", 0)), int(self.query.get("limit", 100))
        return _results(rows[offset : offset + limit])


def _results(rows: list[Json]) -> Json:
    return {"results": rows}


class Play:
    """The participants' side in a browser, and the controls; none of it is an API of the platform."""

    def __init__(self, handler: Handler, query: Query, raw: bytes) -> None:
        self.handler, self.query = handler, query
        self.server, self.platform = handler.server, handler.server.platform
        self.form = {name: values[-1] for name, values in parse_qs(raw.decode("utf-8", "replace")).items()}

    def handle(self, path: str) -> None:
        """Answer with a page, a redirect or JSON."""
        self.platform.run_due()
        try:
            self._handle(path)
        except (PlayError, ApiError) as error:
            self._html(409, f"<h1>Not possible</h1><p>{html.escape(str(error))}</p>")

    def _handle(self, path: str) -> None:
        parts = path.strip("/").split("/")
        match (self.handler.command, parts):
            case ("GET", ["" | "play"]):
                self._html(200, self._front_page())
            case ("GET", ["play", "money"]):
                self._json([row.__dict__ for row in self.platform.movements])
            case ("POST", ["play", "studies", study, "take"]):
                place = self.platform.take_place(study, self.form.get("participant", ""))
                cookie = f"participant={place['participant']}; Path=/; SameSite=Lax"
                self._redirect(place["url"], {"Set-Cookie": cookie})
            case ("GET", ["submissions", "complete"]):
                self._complete(self.query.get("cc", ""))
            case ("POST", ["play", "submissions", number, "return"]):
                self.platform.return_submission(number)
                self._redirect("/play/")
            case ("POST", ["play", "submissions", number, "time-out"]):
                self.platform.time_out(number)
                self._redirect("/play/")
            case ("POST", ["play", "submissions", number, "code"]):
                self.platform.enter_code(number, self.form.get("code", ""))
                self._redirect("/play/")
            case ("POST", ["play", "submissions", number, "message"]):
                row = self.platform.submission(number)
                message = {"recipient_id": "", "body": self.form["body"], "study_id": row["study_id"]}
                self.platform.send_message(message, sender=row["participant"])
                self._redirect("/play/")
            case ("POST", ["play", "faults"]):
                self.server.fail_next(
                    self.form["kind"],
                    method=self.form.get("method", ""),
                    path=self.form.get("path", ""),
                    n=int(self.form.get("times", 1)),
                    seconds=float(self.form.get("seconds", 1)),
                )
                self._redirect("/play/")
            case ("POST", ["play", "deliver"]):
                self.platform.deliver()
                self._redirect("/play/")
            case _:
                self._html(404, "<h1>Not found</h1>")

    def _complete(self, code: str) -> None:
        cookies = dict(
            part.strip().partition("=")[::2] for part in self.handler.headers.get("Cookie", "").split(";")
        )
        number = self.platform.current_submission(cookies.get("participant", ""))
        if not number:
            raise PlayError("nobody is logged in: take a place at /play/")
        submission = self.platform.enter_code(number, code)
        self._html(200, f"<h1>Submitted</h1><p>Your submission is {html.escape(submission['status'])}.</p>")

    def _front_page(self) -> str:
        with self.platform.lock:
            studies = [self.platform.study(number) for number in self.platform.studies]
            rows = [self.platform.submission(number) for number in self.platform.submissions]
        study_rows = "".join(
            f"<tr><td>{html.escape(study['name'])}<td>{study['status']}"
            f"<td>{study['places_taken']} of {study['total_available_places']}<td>"
            + _button(f"/play/studies/{study['id']}/take", "Take a place", "participant")
            for study in studies
        )
        submission_rows = "".join(
            f"<tr><td>{row['id']}<td>{row['status']}<td>{html.escape(str(row['entered_code'] or ''))}"
            f"<td>{', '.join(map(str, row['bonus_payments']))}<td>"
            + _button(f"/play/submissions/{row['id']}/code", "Enter code", "code")
            + _button(f"/play/submissions/{row['id']}/return", "Return")
            + _button(f"/play/submissions/{row['id']}/time-out", "Time out")
            + _button(f"/play/submissions/{row['id']}/message", "Send message", "body")
            for row in rows
        )
        kinds = "".join(f"<option>{kind}</option>" for kind in FaultKind)
        return (
            "<h1>Prolific (double)</h1>"
            f"<p>Token <code>{html.escape(self.platform.token)}</code>, balance {self.platform.balance}"
            f" {self.platform.currency} (minor units). <a href='/play/money'>Money paid</a></p>"
            f"<table><tr><th>Study<th>Status<th>Places<th></tr>{study_rows}</table>"
            f"<table><tr><th>Submission<th>Status<th>Code<th>Bonuses<th></tr>{submission_rows}</table>"
            f"<form method=post action=/play/faults><select name=kind>{kinds}</select>"
            " path <input name=path> <button>Let the next request fail</button></form>"
            + _button("/play/deliver", "Deliver webhooks")
        )

    def _html(self, status: int, body: str) -> None:
        page = f"<!doctype html><html lang=en><meta charset=utf-8><title>Prolific (double)</title>{body}"
        self.handler._send(status, page.encode(), {"Content-Type": "text/html; charset=utf-8"})

    def _json(self, content: Json) -> None:
        self.handler._send(200, json.dumps(content).encode())

    def _redirect(self, address: str, headers: dict[str, str] | None = None) -> None:
        self.handler._send(303, b"", {"Location": address, **(headers or {})})


def _button(action: str, label: str, name: str = "") -> str:
    box = f"<input name={name} placeholder={name} size=12>" if name else ""
    return f"<form method=post action={action} style='display:inline'>{box}<button>{label}</button></form> "


def main() -> None:
    """Serve until interrupted, delivering webhooks every second."""
    parser = argparse.ArgumentParser(description="Serve a local double of Prolific.")
    parser.add_argument("--port", type=int, default=8602)
    parser.add_argument("--token", default="double-token")
    parser.add_argument("--currency", default="GBP", choices=["GBP", "USD"])
    options = parser.parse_args()
    platform = ProlificPlatform(token=options.token, currency=options.currency)
    platform.background_delay_s = 2.0
    server = ProlificDouble(platform, port=options.port)
    print(f"Prolific double: {server.url}/play/  (page of participants)")
    print(f"  PROLIFIC_URL={server.url}\n  token {options.token}", flush=True)

    def deliver_always() -> None:
        while True:
            time.sleep(1)
            platform.run_due()
            platform.deliver()

    Thread(target=deliver_always, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
