"""The next answer takes a way of its own through the server, and nobody can tell by what comes back."""

import json
from io import BytesIO

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import RequestFactory
from django.urls import get_script_prefix, set_script_prefix

from config import shortest_way
from config.shortest_way import ShortestWay, usual_headers
from judgments.api import session_views
from judgments.models import Judgment, Session
from judgments.sessions.sittings import sittings
from tests import cast
from tests.judgments.deliveries import row

pytestmark = pytest.mark.django_db


class Handler(WSGIHandler):
    """The usual way, which counts what comes its way."""

    def __init__(self):
        super().__init__()
        self.taken = []

    def __call__(self, environ, start_response):
        self.taken.append(environ["PATH_INFO"])
        return super().__call__(environ, start_response)


@pytest.fixture
def usual(monkeypatch):
    """The usual way; the test's transaction stays open between requests, the folder of a site does not."""
    monkeypatch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", lambda _: None)
    usual_headers.cache_clear()
    folder = get_script_prefix()
    yield Handler()
    set_script_prefix(folder)  # the thread keeps what the last request came by
    usual_headers.cache_clear()


def ask(application, address, body, *, method="POST", **environ):
    """Status, headers and body of what an application answers."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = RequestFactory().generic(method, address, content, content_type="application/json", **environ)
    said = []
    answer = application(request.environ, lambda status, headers, *_: said.append((status, headers)))
    given = b"".join(answer)
    getattr(answer, "close", lambda: None)()
    ((status, headers),) = said
    return status, dict(headers), json.loads(given) if given else None


def a_session(person="ada", n=5):
    study = cast.Experiment.objects.first() or cast.study(
        materials=cast.material_set(n_items=n), n_lists=1, instructions=""
    )
    session = cast.begin(study, person)
    assert len(session.trials.all()) == n
    return session


def address(session):
    return f"/api/v1/sessions/{session.token}/judgments/"


def sent(*rows):
    return {"judgments": list(rows), "sent_at": "2026-11-21T10:00:00+00:00"}


def test_every_answer_but_a_sessions_first_takes_it_and_is_acknowledged_as_ever(usual):
    short, told = ShortestWay(usual), {}
    for way, session in ((usual, a_session("ada")), (short, a_session("ben"))):
        usual.taken.clear()
        trials = list(session.trials.all())
        told[way] = [ask(way, address(session), sent(row(one, rt_ms=700))) for one in trials]
        for one, (_, _, document) in zip(trials, told[way], strict=True):
            assert document["acknowledged"] == [one.public_id] and document["next"] == f"/s/{session.token}/"
            document |= {"acknowledged": [], "next": ""}
        session.refresh_from_db()
        assert session.status == "complete" and session.completion_code in document["page"]
        document["page"] = document["page"].replace(session.completion_code, "").replace(session.token, "")
        assert Judgment.objects.filter(trial__session=session, rt_ms=700).count() == 5
    assert len(usual.taken) == 1  # what this process did not yet know of the session
    for ours, theirs in zip(told[short], told[usual], strict=True):
        assert ours[1].pop("Content-Length").isdecimal() and theirs[1].pop("Content-Length").isdecimal()
        assert ours == theirs


def begun(session):
    """Its trials, the first of them answered, so that this process knows what it was given."""
    trials = list(session.trials.all())
    first = ask(WSGIHandler(), address(session), sent(row(trials[0])))
    assert first[0] == "200 OK" and sittings.get(session.token)
    return trials


@pytest.mark.parametrize(
    "of",
    [
        lambda trials: sent(row(trials[1]), row(trials[2])),
        lambda trials: sent(row(trials[1], response="elsewhere")),
        lambda trials: sent(row(trials[0], response="elsewhere")),
        lambda trials: sent({**row(trials[1]), "trial": "no-such-trial"}),
        lambda trials: sent(row(trials[1]), {"trial": 7}),
        lambda trials: sent(7),
        lambda trials: sent(),
        lambda trials: [],
        lambda trials: b"{",
        lambda trials: b"\xff",
        lambda trials: b"",
        lambda trials: b"[" * 100_000,
    ],
)
def test_all_else_goes_the_usual_way_with_its_body(usual, of):
    answers = []
    for way, person in ((usual, "ada"), (ShortestWay(usual), "ben")):
        session = a_session(person)
        trials = begun(session)
        usual.taken.clear()
        status, headers, document = ask(way, address(session), of(trials))
        assert len(usual.taken) == 1
        named = {trial.public_id: trial.position for trial in trials} | {session.token: "token"}
        text = json.dumps(document)
        for name, number in named.items():
            text = text.replace(name, str(number))
        headers.pop("Content-Length", None)
        stored = sorted(Judgment.objects.filter(trial__session=session).values_list("trial__position"))
        answers.append((status, headers, text, stored))
    assert answers[0] == answers[1]


def test_other_methods_addresses_and_hosts_go_the_usual_way(usual, settings):
    session = a_session()
    body = sent(row(begun(session)[1]))
    short = ShortestWay(usual)
    assert ask(short, address(session), body, method="PUT")[0].startswith("405")
    assert ask(short, "/api/v1/sessions/unknown/judgments/", body)[0].startswith("404")
    assert ask(short, address(session), body, HTTP_HOST="elsewhere.example")[0].startswith("400")
    settings.SECURE_SSL_REDIRECT = True
    usual_headers.cache_clear()
    usual.load_middleware()
    assert ask(short, address(session), body)[0].startswith("301")
    assert len(usual.taken) == 4 and Judgment.objects.count() == 1
    status, headers, _ = ask(short, address(session), body, **{"wsgi.url_scheme": "https"})
    assert status == "200 OK" and len(usual.taken) == 4 and Judgment.objects.count() == 2
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"


def test_behind_a_proxy_its_word_counts_for_https(usual, settings):
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    usual.load_middleware()
    session = a_session()
    first, *trials = session.trials.all()
    told = [
        ask(way, address(session), sent(row(one)), HTTP_X_FORWARDED_PROTO="https")
        for way, one in zip((usual, ShortestWay(usual)), (first, trials[0]), strict=True)
    ]
    assert len(usual.taken) == 1
    assert [one[0] for one in told] == ["200 OK", "200 OK"]
    assert {**told[0][1], "Content-Length": ""} == {**told[1][1], "Content-Length": ""}
    assert told[1][1]["Strict-Transport-Security"] == "max-age=3600"
    status, *_ = ask(
        ShortestWay(usual), address(session), sent(row(trials[1])), HTTP_X_FORWARDED_PROTO="http"
    )
    assert status.startswith("301") and len(usual.taken) == 2


def test_a_site_below_a_folder_goes_the_usual_way(usual):
    session = a_session()
    body = sent(row(begun(session)[1]))
    status, _, document = ask(ShortestWay(usual), address(session), body, SCRIPT_NAME="/lab")
    assert status == "200 OK" and len(usual.taken) == 1
    assert document["acknowledged"]


def test_a_database_that_fails_in_between_is_asked_again_the_usual_way(usual, monkeypatch):
    session = a_session()
    trials = begun(session)
    calls = []

    def fails(*given):
        calls.append(given)
        raise OperationalError("gone")

    monkeypatch.setattr(session_views, "store_next", fails)
    status, _, document = ask(ShortestWay(usual), address(session), sent(row(trials[1])))
    assert status == "503 Service Unavailable" and document["code"] == "try_again"
    assert len(calls) == 2 and Judgment.objects.count() == 1


def test_a_body_without_a_length_or_beyond_the_limit_is_not_read_here(usual, monkeypatch):
    session = a_session()
    body = sent(row(begun(session)[1]))
    monkeypatch.setattr(shortest_way, "MOST_BYTES", 10)
    assert ask(ShortestWay(usual), address(session), body)[0] == "200 OK"
    assert len(usual.taken) == 1
    other = a_session("ben")
    body = json.dumps(sent(row(begun(other)[1]))).encode()
    environ = RequestFactory().post(address(other), body, content_type="application/json").environ
    environ |= {"CONTENT_LENGTH": "", "wsgi.input": BytesIO(body)}
    said = []
    ShortestWay(usual)(environ, lambda status, headers, *_: said.append(status))
    assert len(usual.taken) == 2 and said[0].startswith("400")
    assert Session.objects.get(pk=other.pk).status == "active"
