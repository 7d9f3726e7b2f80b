"""What is sent to Sentry: where an error came about, and nobody's id, token or words."""

import gzip
import importlib
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from config.error_reports import without_persons
from tools.doubles import serving

ROOT = Path(__file__).resolve().parents[2]
TOKEN, PERSON, WORDS = "4fT0xQ2sT0kEnOfASession", "5f5f5f5f5f5f5f5f5f5f5f5f", "my grandmother says so"
SECRETS = (TOKEN, PERSON, WORDS, "cookie-of-mia", "mia@example.org")
#: A participant's request that ends in an error, after a call to a platform and a line of the log.
FAULTY = f"""
import logging, django
django.setup()
from django.test import Client
from django.core.management import call_command
from judgments.screens import arrival_views
import httpx
def fail(*args, **kwargs):
    person = "{PERSON}"
    logging.getLogger("obelus").warning("submission of %s", person)
    try:
        httpx.get("http://127.0.0.1:1/api/v1/participants/{PERSON}/")
    except httpx.HTTPError:
        pass
    logging.getLogger("obelus").error("nobody at /s/{TOKEN}/ for %s", "mia@example.org")
    raise ValueError("the answer “{WORDS}” of {PERSON}")
arrival_views.newest_version = fail
client = Client(raise_request_exception=False, headers={{"cookie": "sessionid=cookie-of-mia"}})
client.get("/s/{TOKEN}/../take/words/?participant={PERSON}")
client.post("/take/words/?PROLIFIC_PID={PERSON}", {{"comment": "{WORDS}"}}, headers={{"referer": "http://testserver/s/{TOKEN}/"}})
import sentry_sdk
sentry_sdk.flush(10)
"""


class Ingest(BaseHTTPRequestHandler):
    """Sentry's endpoint for events, which keeps what it is sent."""

    def do_POST(self) -> None:
        """Store an envelope."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        match self.headers.get("Content-Encoding"):
            case "gzip":
                body = gzip.decompress(body)
            case "br":  # where the library that unpacks it is installed
                body = importlib.import_module("brotli").decompress(body)
        self.server.envelopes.append(body.decode())  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def ingest():
    """The endpoint with the envelopes that it got."""
    server = HTTPServer(("127.0.0.1", 0), Ingest)
    server.envelopes = []  # type: ignore[attr-defined]
    with serving(server):
        yield server


def test_an_event_keeps_the_place_and_loses_persons_tokens_and_words():
    frames = [{"filename": "judgments/sessions/recording.py", "lineno": 7, "function": "record_answers"}]
    event = without_persons(
        {
            "request": {
                "method": "POST",
                "url": f"https://lab.example.org/s/{TOKEN}/?participant={PERSON}",
                "query_string": f"participant={PERSON}",
                "cookies": {"sessionid": "cookie-of-mia"},
                "data": {"comment": WORDS},
                "headers": {"Referer": f"https://lab.example.org/s/{TOKEN}/"},
            },
            "transaction": f"/s/{TOKEN}/",
            "user": {"email": "mia@example.org"},
            "extra": {"sys.argv": ["manage.py", "forget", PERSON]},
            "breadcrumbs": {"values": [{"data": {"url": f"https://api.prolific.com/{PERSON}/"}}]},
            "logentry": {"message": f"nobody at /s/{TOKEN}/ for %s", "params": [PERSON]},
            "exception": {
                "values": [{"type": "ValueError", "value": WORDS, "stacktrace": {"frames": frames}}]
            },
        },
        {},
    )
    assert not [secret for secret in SECRETS if secret in json.dumps(event)]
    assert event["request"] == {"method": "POST", "url": "https://lab.example.org/s/[removed]/"}
    (exception,) = event["exception"]["values"]
    assert (exception["type"], exception["stacktrace"]["frames"]) == ("ValueError", frames)


def test_nothing_about_a_participant_reaches_the_endpoint(ingest, tmp_path):
    pytest.importorskip("sentry_sdk", reason="the extra “sentry” is not installed")
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SENTRY_DSN": f"http://key@127.0.0.1:{ingest.server_address[1]}/1",
        "VAR_DIR": str(tmp_path),
        "DATABASE_URL": "",
    }
    subprocess.run([sys.executable, "-c", FAULTY], cwd=ROOT, env=environment, check=True, timeout=120)
    sent = "\n".join(ingest.envelopes)
    assert '"ValueError"' in sent and "take/words" in sent and "nobody at" in sent
    assert not [secret for secret in SECRETS if secret in sent]
