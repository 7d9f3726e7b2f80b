"""Mutated requests to the participants' addresses, byte by byte: some that no browser sends."""

import json
import random
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.fuzz.site import Site

METHODS = ["GET"] * 8 + ["POST"] * 14 + ["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QQ"]
TEMPLATES = [
    "/take/{study}/",
    "/take/{study}/panel/{text}/",
    "/take/{study}/mturk/",
    "/take/{study}/prolific/",
    "/take/{study}/prolific/{text}/",
    "/take/{study}/consent/",
    "/take/{study}/consent.pdf",
    "/s/worker.js",
    *(
        f"/s/{{session}}/{name}"
        for name in (
            "",
            "consent/",
            "consent.pdf",
            "kept/",
            "handed/",
            "questions/",
            "closing/",
            "quiz/",
            "training/",
            "modulus/",
            "withdraw/",
            "continue/",
            "next/",
            "leave/",
            "trials/{trial}/",
            "trials/{trial}/",
        )
    ),
    "/api/v1/sessions/{session}/judgments/",
    "/api/v1/sessions/{session}/judgments/",
    "/api/v1/sessions/{session}/plan/",
    "/hooks/prolific/{text}/",
]
STRINGS = [
    "",
    "0",
    "-1",
    "1e309",
    "NaN",
    "\x00",
    "a\x00b",
    "%00",
    "\ud800",
    "\u202e\u0644\u0627",
    "é" * 300,
    "x" * 5_000,
    "../../etc/passwd",
    "<script>1</script>",
    "=1+1",
    "' OR 1=1 --",
    "{{7*7}}",
    "\r\nSet-Cookie: a=b",
    "٣",
    "1_000",
]
VALUES: list[Any] = [None, True, [], {}, -1, 2**63, 10**400, 1e308, 0.1, [[[]]], {"a": {"b": []}}]
FIELDS = ["consent", "response", "answer", "rt_ms", "participant", "PROLIFIC_PID", "SESSION_ID", "workerId"]
FIELDS += [
    "assignmentId",
    "hitId",
    "turkSubmitTo",
    "csrfmiddlewaretoken",
    "lang",
    "judgments",
    "next",
    "sent",
]
TYPES = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
TYPES += ["text/plain", "application/json; charset=utf-7", "multipart/form-data", "", "a/b;" * 50]
TIMEOUT_S = 30


def fuzz_participants(site: Site, *, cases: int, seed_number: int) -> tuple[Counter[int], list[str]]:
    """Send mutated requests; the statuses, and what the faults were: a server error or no response."""
    rng = random.Random(seed_number)
    address = urlsplit(site.address)
    statuses: Counter[int] = Counter()
    faults = []
    for _ in range(cases):
        request, is_whole = _request(site.facts, rng)
        try:
            status = send(address.hostname or "", address.port or 80, request, is_whole=is_whole)
        except (OSError, ValueError) as error:
            if not is_whole:  # a client that leaves needs no response
                continue
            faults.append(f"{type(error).__name__}: {error}: {request[:600]!r}")
            continue
        statuses[status] += 1
        if status >= 500:
            faults.append(f"{status}: {request[:600]!r}")
    return statuses, faults


def send(host: str, port: int, request: bytes, *, is_whole: bool) -> int:
    """Send bytes and return the status of the response; leave where the body is shorter than it says."""
    with socket.create_connection((host, port), timeout=TIMEOUT_S) as connection:
        connection.sendall(request)
        if not is_whole:
            connection.shutdown(socket.SHUT_WR)
        head = b""
        while b"\r\n" not in head:
            part = connection.recv(4096)
            if not part:
                break
            head += part
    version, _, rest = head.partition(b" ")
    if not version.startswith(b"HTTP/1"):
        raise ValueError(f"no response but {head[:80]!r}")
    return int(rest[:3])


def _request(facts: dict[str, Any], rng: random.Random) -> tuple[bytes, bool]:
    path = rng.choice(TEMPLATES)
    for name, stored in (("study", "studies"), ("session", "sessions"), ("trial", "trials")):
        known = facts[stored]
        value = rng.choice(known) if known and rng.random() < 0.85 else _text(rng)
        path = path.replace(f"{{{name}}}", _quoted(value, rng))
    path = path.replace("{text}", _quoted(_text(rng), rng))
    if rng.random() < 0.4:
        path += "?" + "&".join(
            f"{rng.choice(FIELDS)}={_quoted(_text(rng), rng)}" for _ in range(rng.randint(1, 4))
        )
    content_type, body = _body(facts, rng)
    length = len(body) if rng.random() < 0.95 else rng.choice([0, len(body) // 2, len(body) + 1, 10**9])
    headers = {
        "Host": "127.0.0.1",
        "Connection": "close",
        "Content-Type": content_type,
        "Content-Length": str(length),
    }
    if rng.random() < 0.3:
        name = rng.choice(
            ["Cookie", "Accept-Language", "X-Forwarded-For", "Range", "Referer", "Accept", "Content-Encoding"]
        )
        headers[name] = "".join(c for c in _text(rng) if 32 <= ord(c) < 127)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    line = f"{rng.choice(METHODS)} {path} HTTP/1.1\r\n"
    return f"{line}{head}\r\n".encode("latin-1", "replace") + body, length <= len(body)


def _quoted(text: str, rng: random.Random) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return quote(raw, safe="" if rng.random() < 0.9 else "/%?") or "-"


def _text(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return rng.choice(STRINGS)
    return "".join(chr(rng.randrange(1, 0xD7FF)) for _ in range(rng.randint(1, 20)))


def _body(facts: dict[str, Any], rng: random.Random) -> tuple[str, bytes]:
    make: Callable[[dict[str, Any], random.Random], tuple[str, bytes]] = rng.choice(
        [_json_body, _json_body, _form_body, _form_body, _noise]
    )
    content_type, body = make(facts, rng)
    if rng.random() < 0.15:
        content_type = rng.choice(TYPES)
    if body and rng.random() < 0.2:  # one byte changed, or the end missing
        at = rng.randrange(len(body))
        body = body[:at] + (bytes([rng.randrange(256)]) + body[at + 1 :] if rng.random() < 0.5 else b"")
    return content_type, body


def _json_body(facts: dict[str, Any], rng: random.Random) -> tuple[str, bytes]:
    row: dict[str, Any] = {
        "trial": rng.choice(facts["trials"]) if facts["trials"] else "a",
        "response": rng.choice(["0", "1", "4", "yes"]),
        "rt_ms": rng.randint(0, 5_000),
        "shown_ms": 0,
        "client": {"viewport": [390, 844]},
    }
    for _ in range(rng.randint(0, 3)):
        row[rng.choice([*row, "x"])] = rng.choice([*VALUES, _text(rng)])
    body: Any = {"judgments": [row] * rng.choice([1, 1, 1, 2, 300]), "sent_at": rng.choice([0, "x", None])}
    if rng.random() < 0.1:
        body = rng.choice([*VALUES, {"judgments": rng.choice(VALUES)}])
    text = json.dumps(body)
    if rng.random() < 0.05:
        text = "[" * 100_000
    return "application/json", text.encode("utf-8", "surrogatepass")


def _form_body(facts: dict[str, Any], rng: random.Random) -> tuple[str, bytes]:
    fields = [(rng.choice(FIELDS), _text(rng)) for _ in range(rng.randint(0, 6))]
    if rng.random() < 0.3:
        fields.append(("consent", "yes"))
    return "application/x-www-form-urlencoded", urlencode(fields, errors="surrogatepass").encode()


def _noise(facts: dict[str, Any], rng: random.Random) -> tuple[str, bytes]:
    return rng.choice(TYPES), rng.randbytes(rng.choice([0, 1, 50, 3_000]))
