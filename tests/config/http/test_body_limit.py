"""Large bodies are read from people who are logged in, where files are taken, and else refused unread."""

import http.client
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client, RequestFactory

from config.http.body_limit import LARGE_AT_ONCE, MAX_BODY_BYTES, BodyLimitMiddleware
from judgments.models import Judgment
from tests import cast
from tests.test_serve import serving, until

SCORE_SETS = "/api/v1/studies/any/score-sets/"
LARGE = SimpleUploadedFile("items.csv", b"x" * (MAX_BODY_BYTES + 1))


def large_request(path):
    LARGE.seek(0)
    request = RequestFactory().post(path, {"file": LARGE})
    request.user = cast.ada()
    return request


def post_large(client, address):
    LARGE.seek(0)
    return client.post(address, {"file": LARGE})


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/accounts/login/", "/studies/new/", "/hooks/prolific/1/", "/no/such/"])
def test_a_large_body_is_refused_with_a_page_and_without_an_alarm(address, caplog):
    answer = post_large(Client(enforce_csrf_checks=True), address)
    assert answer.status_code == 400 and "too large" in answer.content.decode()
    [record] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    assert record.getMessage() == "Send at most 4,000,000 bytes at once."


@pytest.mark.django_db
def test_the_document_of_the_api_has_the_refusal_of_large_bodies(ada):
    paths = ada.get("/api/v1/schema/?format=json").json()["paths"]
    takes_bodies = [
        operations[name] for operations in paths.values() for name in operations if name == "post"
    ]
    assert takes_bodies and all("413" in operation["responses"] for operation in takes_bodies)


@pytest.mark.django_db
def test_participants_send_no_large_bodies():
    session = cast.begin(cast.study())
    answer = post_large(Client(), f"/s/{session.token}/closing/")
    assert answer.status_code == 400
    rows = json.dumps({"judgments": [], "note": "x" * MAX_BODY_BYTES})
    answer = Client().post(
        f"/api/v1/sessions/{session.token}/judgments/", rows, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not Judgment.objects.exists()


def test_a_logged_in_researcher_sends_a_large_file(ada):
    LARGE.seek(0)
    answer = ada.post("/materials/upload/", {"files": LARGE, "name": "Large", "language": "en"})
    assert answer.status_code == 302 and "/materials/upload/" in answer["Location"]


@pytest.mark.django_db
def test_large_files_leave_threads_to_others():
    """While as many as may be are received, another one is asked to wait, and small requests are served."""
    received, proceed = threading.Barrier(LARGE_AT_ONCE + 1, timeout=20), threading.Event()

    def respond(request, wait=lambda: None):
        def view(request):
            wait()
            return HttpResponse(status=204)

        return middleware.process_view(request, view, (), {}) or view(request)

    def wait():
        received.wait()
        assert proceed.wait(20)

    middleware = BodyLimitMiddleware(lambda request: respond(request, wait))
    requests = [large_request("/materials/upload/") for _ in range(LARGE_AT_ONCE)]
    with ThreadPoolExecutor() as pool:
        answers = [pool.submit(middleware, request) for request in requests]
        received.wait()
        middleware.get_response = respond
        page, document = (middleware(large_request(path)) for path in ("/materials/upload/", SCORE_SETS))
        assert middleware(RequestFactory().post("/materials/upload/")).status_code == 204
        stranger = large_request("/materials/upload/")
        stranger.user = AnonymousUser()
        assert "/accounts/login/" in middleware(stranger)["Location"]
        proceed.set()
        assert [answer.result().status_code for answer in answers] == [204] * LARGE_AT_ONCE
    for refused in (page, document):
        assert (refused.status_code, refused["Retry-After"]) == (429, "30")
    assert "One moment, please" in page.content.decode() and "Log out" in page.content.decode()
    assert json.loads(document.content)["code"] == "busy"
    for _ in range(LARGE_AT_ONCE + 1):  # the places are free again
        assert middleware(large_request("/materials/upload/")).status_code == 204


def test_the_server_answers_before_a_large_body_of_a_stranger_has_arrived(tmp_path):
    def status_of(address, **headers):
        with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)) as line:
            line.putrequest("POST", address)
            line.putheader("Content-Type", "multipart/form-data; boundary=x")
            line.putheader("Content-Length", "200000000")
            for name, value in headers.items():
                line.putheader(name, value)
            line.endheaders(b"--x\r\n")
            answer = line.getresponse()
            return answer.status, answer.getheader("Location")

    with serving(tmp_path, DEBUG="0") as served:
        assert until(served.answers)
        assert status_of("/take/any/") == (400, None)
        login = "/accounts/login/?next=/materials/upload/"
        assert status_of("/materials/upload/", Cookie=f"csrftoken={'x' * 32}") == (302, login)
        assert status_of("/api/v1/studies/any/score-sets/") == (401, None)
