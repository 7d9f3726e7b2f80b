"""A local MTurk: the requester API as boto3 speaks it, and a small worker site.

``python -m tools.doubles.mturk --port 8601`` starts it by hand. Workers open ``/``; a page of the worker site
shows the ExternalQuestion in an iframe, so that cookies and framing behave as on the platform where the
product answers at another host name (127.0.0.1 and localhost are two sites).
"""

import argparse
import hmac
import json
import time
from calendar import timegm
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tools.doubles import serving
from tools.doubles.mturk_service import CHANGES, KINDS, PREVIEW, TurkService, group_of
from tools.doubles.mturk_validation import TurkError, external_url

TARGET = "MTurkRequesterServiceV20170117."
JSON = "application/x-amz-json-1.1"
SIGNING_TIME = "%Y%m%dT%H%M%SZ"
MAX_SKEW_S = 300
SCOPE = ("us-east-1", "mturk-requester", "aws4_request")
# The flags of the platform's frame are not documented; these are what an ordinary page needs.
FRAME = (
    '<iframe name="question" sandbox="allow-scripts allow-same-origin allow-forms allow-popups" src="{}">'
    "</iframe>"
)
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">
<title>{title}</title>
<style>body {{ font: 16px system-ui; margin: 1rem }}
iframe {{ width: 100%; height: 80vh; border: 1px solid #888 }}
td {{ padding: .2rem 1rem .2rem 0 }}</style><h1>{title}</h1>{html}"""


class Handler(BaseHTTPRequestHandler):
    """One request: to the API, to the worker site, or to the control of the double."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body would wait 40 ms until the headers are acknowledged
    server: "DoubleServer"

    def do_GET(self) -> None:
        """A page of the worker site, or the state of the double."""
        address = urlsplit(self.path)
        query = dict(parse_qsl(address.query))
        try:
            if address.path == "/control/state":
                self._send(200, json.dumps(self.server.service.state(), indent=1), "application/json")
            elif address.path == "/":
                self._send_page("Worker site (double)", self._projects())
            elif address.path == "/mturk/preview":
                self._send_page("Preview", self._preview(query))
            elif address.path == "/mturk/continue":
                self._send_page("Work", self._work(query.get("assignmentId", "")))
            else:
                self._send_page("Not found", "<p>There is no such page.</p>", status=404)
        except TurkError as error:
            self._send_page("Error", f"<p role=alert>{escape(error.message)}</p>", status=error.status)

    def do_POST(self) -> None:
        """A request to the API, or a form."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "X-Amz-Target" in self.headers:
            self._answer_request(body)
            return
        form = dict(parse_qsl(body.decode(), keep_blank_values=True))
        service = self.server.service
        try:
            if self.path == "/mturk/accept":
                assignment = service.accept(form.get("hitId", ""), form.get("workerId", ""))
                self._redirect(f"/mturk/continue?assignmentId={assignment.id}")
            elif self.path == "/mturk/return":
                service.give_back(form.get("assignmentId", ""))
                self._redirect("/")
            elif self.path == "/mturk/externalSubmit":
                service.submit(form)
                self._send_page("Submitted", '<p role="status">The HIT has been successfully submitted.</p>')
            elif self.path == "/control/fail_next":
                service.fail_next(
                    form.get("kind", ""),
                    operation=form.get("operation", ""),
                    times=int(form.get("times", 1)),
                    seconds=float(form.get("seconds", 0)),
                )
                self._send(200, "{}", "application/json")
            elif self.path == "/control/advance":
                service.advance(float(form.get("seconds", 0)))
                self._send(200, "{}", "application/json")
            else:
                self._send_page("Not found", "<p>There is no such page.</p>", status=404)
        except TurkError as error:
            self._send_page("Error", f"<p role=alert>{escape(error.message)}</p>", status=error.status)
        except ValueError as error:
            self._send(400, json.dumps({"error": str(error)}), "application/json")

    # The requester API

    def _answer_request(self, body: bytes) -> None:
        operation = self.headers["X-Amz-Target"].removeprefix(TARGET)
        service = self.server.service
        # Race: counted before anything is written, so that a client with its answer reads the right count.
        with service.lock:
            service.counts[operation] += 1
        fault = service.next_fault(operation)
        kind = fault.kind if fault else ""
        if kind and not KINDS[kind]:
            self._fail(kind)
            return
        try:
            self._check_signature(body)
            response, status = service.answer(operation, _parsed(body)), 200
        except TurkError as error:
            status = error.status
            response = {"__type": error.kind, "Message": error.message}
            if error.code:
                response["TurkErrorCode"] = error.code
        if fault and kind == "slow":
            time.sleep(fault.seconds)
        if kind in {"after", "malformed", "service_fault_after"}:
            self._fail(kind)
            return
        self._send(status, json.dumps(response), JSON)

    def _fail(self, kind: str) -> None:
        if kind in {"before", "after"}:
            self.close_connection = True
            self.connection.close()
        elif kind == "throttled":
            response = {"__type": "ThrottlingException", "message": "Rate exceeded"}
            self._send(400, json.dumps(response), JSON)
        elif kind == "expired_token":
            text = "The security token included in the request is expired"
            self._send(400, json.dumps({"__type": "ExpiredTokenException", "message": text}), JSON)
        elif kind == "unavailable":
            self._send(503, "<html><body>Service Unavailable</body></html>", "text/html")
        elif kind == "malformed":
            self._send(200, '{"HIT": {"HITId": "3', JSON)
        else:
            response = {
                "__type": "ServiceFault",
                "Message": "internal failure",
                "TurkErrorCode": "AWS.ServiceUnavailable",
            }
            self._send(500, json.dumps(response), JSON)

    def _check_signature(self, body: bytes) -> None:
        """Compare key, scope, time and signature of a request, as every AWS service does."""
        scheme, _, parts = self.headers.get("Authorization", "").partition(" ")
        fields = dict(part.strip().split("=", 1) for part in parts.split(",") if "=" in part)
        key, *scope = fields.get("Credential", "").split("/")
        if scheme != "AWS4-HMAC-SHA256" or len(scope) != 4:
            raise _refused("MissingAuthenticationTokenException", "Missing Authentication Token")
        if key not in self.server.service.keys:
            raise _refused(
                "UnrecognizedClientException", "The security token included in the request is invalid."
            )
        if tuple(scope[1:]) != SCOPE:
            raise _refused(
                "InvalidSignatureException",
                f"Credential should be scoped to a valid region. {scope[1]!r} is not one.",
            )
        signed_at = self.headers.get("X-Amz-Date", "")
        skew = timegm(time.strptime(signed_at, SIGNING_TIME)) - time.time()
        if abs(skew) > MAX_SKEW_S:
            raise _refused(
                "InvalidSignatureException",
                f"Signature {'expired' if skew < 0 else 'not yet current'}: {signed_at}.",
            )
        names = fields.get("SignedHeaders", "").split(";")
        request = AWSRequest(
            "POST",
            f"http://{self.headers['Host']}{self.path}",
            {name: self.headers[name] for name in names if name in self.headers},
            body,
        )
        request.context["timestamp"] = signed_at
        signer = SigV4Auth(Credentials(key, self.server.service.keys[key]), SCOPE[1], SCOPE[0])
        expected = signer.signature(
            signer.string_to_sign(request, signer.canonical_request(request)), request
        )
        if not hmac.compare_digest(expected, fields.get("Signature", "")):
            raise _refused(
                "InvalidSignatureException",
                "The request signature we calculated does not match the signature you provided.",
            )

    # The worker site

    def _projects(self) -> str:
        service = self.server.service
        with service.lock:
            rows = "".join(
                f"<tr><td>{escape(hit.type.fields['Title'])}</td><td>${hit.type.fields['Reward']}</td>"
                f"<td>{service.status_of(hit)}</td>"
                f'<td><a href="/mturk/preview?hitId={hit.id}&amp;workerId=AWORKER1">Preview</a></td></tr>'
                for hit in service.hits.values()
            )
        return f"<table>{rows}</table><p>Another worker: replace AWORKER1 in the address of the preview.</p>"

    def _preview(self, query: dict[str, str]) -> str:
        service = self.server.service
        with service.lock:
            group = query.get("groupId", "")
            hit_id = query.get("hitId") or next(
                (
                    hit.id
                    for hit in service.hits.values()
                    if group in (hit.type.id, group_of(hit.type)) and service.status_of(hit) == "Assignable"
                ),
                "",
            )
            hit = service.hits.get(hit_id)
            worker = query.get("workerId", "AWORKER1")
            if hit is None or not service.may_preview(hit, worker):
                return '<p role="alert">There are no HITs in this group that you may preview.</p>'
            frame = self._frame(hit.question, assignmentId=PREVIEW, hitId=hit.id)
        return (
            f'<form method="post" action="/mturk/accept"><input type="hidden" name="hitId" value="{hit.id}">'
            f'<label>Worker <input name="workerId" value="{escape(worker)}"></label> '
            f"<button>Accept</button></form>{frame}"
        )

    def _work(self, assignment_id: str) -> str:
        service = self.server.service
        with service.lock:
            assignment = service.assignments.get(assignment_id)
            if assignment is None or assignment.status != "Accepted":
                return '<p role="alert">You have not accepted this HIT.</p>'
            frame = self._frame(
                assignment.hit.question,
                assignmentId=assignment.id,
                hitId=assignment.hit.id,
                workerId=assignment.worker,
            )
        return (
            '<form method="post" action="/mturk/return">'
            f'<input type="hidden" name="assignmentId" value="{assignment.id}"><button>Return</button>'
            f"</form>{frame}"
        )

    def _frame(self, question: str, **parameters: str) -> str:
        address = external_url(question)
        sign = "&" if urlsplit(address).query else "?"
        parameters["turkSubmitTo"] = f"{self.server.url}/"
        return FRAME.format(escape(f"{address}{sign}{urlencode(parameters)}"))

    # Responses

    def _send_page(self, title: str, html: str, *, status: int = 200) -> None:
        page = PAGE.format(title=title, html=html)
        self._send(status, page, "text/html; charset=utf-8")

    def _redirect(self, address: str) -> None:
        self.send_response(303)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: int, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-amzn-RequestId", "double")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the state page has the counts."""


def _refused(kind: str, message: str) -> TurkError:
    return TurkError("", message, kind=kind)


def _parsed(body: bytes) -> dict:
    try:
        request = json.loads(body)
    except ValueError as error:
        raise TurkError("", str(error), kind="SerializationException") from None
    if not isinstance(request, dict):
        raise TurkError("", "no JSON object", kind="SerializationException")
    return request


class DoubleServer(ThreadingHTTPServer):
    """The double at an address of this machine."""

    daemon_threads = True

    def __init__(self, service: TurkService, *, port: int = 0) -> None:
        self.service = service
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        """The address of the API and of the worker site."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that no longer waits, or a connection that a fault closed, is no error here."""


@contextmanager
def running(service: TurkService | None = None, *, port: int = 0) -> Iterator[DoubleServer]:
    """Serve a double in a thread."""
    server = DoubleServer(service or TurkService(), port=port)
    with serving(server):
        yield server


class Double:
    """The double as the tests of all platforms drive it: who arrives, what fails, what was paid."""

    faults = {
        "429": "throttled",
        "429-retry-after": "throttled",
        "503": "unavailable",
        "401": "expired_token",
    }

    def __init__(self, service: TurkService | None = None) -> None:
        self.service = service or TurkService()

    def __enter__(self) -> "Double":
        self._context = running(self.service)
        self.url = self._context.__enter__().url
        return self

    def __exit__(self, *exception: object) -> None:
        self._context.__exit__(None, None, None)

    def fail_next(self, kind: str, n: int = 1) -> None:
        """Make the next requests fail that change something."""
        self.service.fail_next(self.faults.get(kind, kind), operation=CHANGES, times=n)

    def money(self) -> Counter[tuple]:
        """How often each reward and each bonus was paid."""
        with self.service.lock:
            return Counter(
                ("reward", row.assignment)
                if row.kind == "reward"
                else ("bonus", row.assignment, row.amount_minor, row.reason)
                for row in self.service.transfers
            )

    def arrive(self, campaign_id: str, person: str) -> str:
        """A worker accepts a HIT of this HIT type; returns the id of the assignment."""
        service = self.service
        with service.lock:
            hits = [hit for hit in service.hits.values() if hit.type.id == campaign_id]
            hit = next(hit for hit in hits if service.status_of(hit) == "Assignable")
            return service.accept(hit.id, worker_id(person)).id

    def submit(self, assignment_id: str, code: str = "") -> None:
        """The worker submits, with the receipt of the last page."""
        self.service.submit({"assignmentId": assignment_id, "receipt": code})

    def return_(self, assignment_id: str) -> None:
        """The worker returns the assignment."""
        self.service.give_back(assignment_id)

    def time_out(self, assignment_id: str) -> None:
        """The worker's time is over."""
        with self.service.lock:
            self.service.assignments[assignment_id].status = "Abandoned"


def account(double: Double, study: Any, by: Any) -> Any:
    """Store a test account for the double, and point the settings at it; the caller restores the settings."""
    from django.conf import settings

    from judgments.recruitment.credentials import add_account

    settings.MTURK_ENDPOINT = double.url
    settings.MTURK_WORKER_SITES = [double.url]
    key, secret = next(iter(double.service.keys.items()))
    secrets = {"access_key_id": key, "secret_access_key": secret}
    return add_account(study, platform="mturk", label="MTurk double", secrets=secrets, by=by)


def worker_id(person: str) -> str:
    """A worker id for a name of the tests."""
    name = "".join(filter(str.isalnum, person)).upper()
    return name if name.startswith("A") else f"A{name}"


def main() -> None:
    """Serve a double until it is interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tools.doubles.mturk", description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=8601)
    server = DoubleServer(TurkService(), port=parser.parse_args().port)
    key, secret = next(iter(server.service.keys.items()))
    print(f"MTurk double: {server.url}/  (worker site; state at {server.url}/control/state)")
    print(f"  MTURK_ENDPOINT={server.url} MTURK_WORKER_SITES={server.url}")
    print(f"  access key {key}, secret key {secret}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
