"""A running double of Prolific with a client of its API."""

import httpx
import pytest

from tools.doubles.prolific import running


@pytest.fixture
def prolific():
    """A double of Prolific, whose answers all have the published shapes."""
    with running() as server:
        yield server
        assert server.shape_errors == []


@pytest.fixture
def api(prolific):
    """A client of the double's API with its token."""
    headers = {"Authorization": f"Token {prolific.platform.token}"}
    with httpx.Client(base_url=f"{prolific.url}/api/v1", headers=headers) as client:
        yield client
