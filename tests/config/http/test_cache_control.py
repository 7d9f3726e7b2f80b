"""Pages and files behind the login are stored in no cache, so that Back shows none after the logout."""

import pytest

from tests import cast

pytestmark = pytest.mark.django_db


def test_no_page_or_file_with_participants_is_stored_by_browsers(ada):
    study = cast.study("agreement")
    cast.sit(study)
    for path in (
        *(f"/studies/agreement/{page}" for page in ("", "participants/", "participants.csv", "judgments/")),
        *("/", "/account/", "/api/v1/studies/agreement/judgments/", "/labs/", "/jobs/"),
    ):
        response = ada.get(path, follow=True)
        assert response.status_code == 200, path
        assert "no-store" in response["Cache-Control"], path


def test_trace_is_allowed_nowhere(client):
    for path in ("/", "/accounts/login/", "/health/live"):
        assert client.trace(path).status_code == 405, path
