"""Lines of the log hold no token, reset link or platform id."""

import logging

import pytest
import structlog
from django.conf import settings
from django.test import Client

from config.http.log_redaction import redact
from experiments.accounts.adapters import sends_mail
from tests import cast


@pytest.fixture
def log_lines(monkeypatch):
    """Lines as the console handler would write them."""
    lines = []
    formatter = {**settings.LOGGING["formatters"]["lines"]}
    del formatter["()"]
    handler = logging.Handler()
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(**formatter))
    handler.emit = lambda record: lines.append(handler.format(record))
    for name in ("", "django.request", "django.security", "django.server"):
        monkeypatch.setattr(logging.getLogger(name), "handlers", [handler])
    return lines


@pytest.mark.django_db
def test_refused_requests_of_a_participant_leave_no_token_in_the_log(log_lines):
    session = cast.begin(cast.study("agreement"))
    client = Client(raise_request_exception=False)
    for path in (
        f"/api/v1/sessions/{session.token}/nothing/",
        f"/api/v1/sessions/{session.token}x/plan/",
        f"/s/{session.token}/nothing/",
        f"/s/{session.token}x/",
    ):
        client.get(path)
        client.put(path)
    assert log_lines and "[removed]" in "".join(log_lines)
    assert session.token not in "".join(log_lines)


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("GET /accounts/password/reset/key/1-c9x2k1-5f0c1d2e/", "c9x2k1"),
        ("Forbidden: /take/demo/?participant=mia@example.org&signature=abc", "mia@"),
        ("Unauthorized Token 0123456789abcdef0123456789abcdef01234567", "0123456789abcdef"),
        ("/take/demo/prolific/?PROLIFIC_PID=5f0c1d2e&STUDY_ID=1&SESSION_ID=99aa", "5f0c1d2e"),
        ("/take/demo/mturk/?workerId=A1B2&assignmentId=3XYZ", "A1B2"),
        ("Not Found: /shared/r3v1ew3r/releases/1/pairs.csv", "r3v1ew3r"),
        ("GET /invitations/1nv1t3d/ HTTP/1.1", "1nv1t3d"),
        ("/accounts/confirm-email/MTI:1sQ:c0nf1rm/", "c0nf1rm"),
        ("/take/demo/prolific/eyJhbGciOiJ/?x=1", "eyJhbGciOiJ"),
        ("/accounts/oidc/university/login/callback/?state=5t4t3&code=c0d3", "c0d3"),
        ("/accounts/oidc/university/login/callback/?state=5t4t3&code=c0d3", "5t4t3"),
        ("/somewhere/?page=2&key=k3y", "k3y"),
        ("POST /x/?token=t0k3n&password=p4ss", "t0k3n"),
        ("POST /x/?token=t0k3n&password=p4ss", "p4ss"),
        ("Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "abcdefghijkl"),
    ],
)
def test_secrets_in_addresses_and_headers_are_masked(line, secret):
    assert secret not in redact(line) and "[removed]" in redact(line)


def test_other_lines_stay_as_they_are():
    for line in (
        "Not Found: /studies/demo/s/",
        "the token could not be read",
        "/s/worker.js",
        "/api/v1/studies/",
    ):
        assert redact(line) == line


@pytest.mark.django_db
def test_no_reset_link_is_printed_where_no_mail_is_sent(client, settings, capsys):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert not sends_mail()
    cast.ada()
    assert client.post("/accounts/password/reset/", {"email": "ada@example.org"}).status_code == 302
    output = capsys.readouterr()
    assert "/accounts/password/reset/key/" not in output.out + output.err
