"""Our own OpenAPI document, fuzzed: no crash, and no answer outside the document."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests import cast

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
TIMEOUT_S = 120  # on a machine that has other work


@pytest.fixture
def api_document(live_server):
    """The document as a running server gives it."""
    return schemathesis.openapi.from_url(f"{live_server.url}/api/v1/schema/?format=json", timeout=TIMEOUT_S)


@pytest.fixture
def headers(transactional_db) -> dict[str, str]:
    """Ada's token; she owns a study in which Pia has sat a session."""
    cast.sit(cast.study())
    return {"Authorization": f"Token {cast.token(cast.ada())}"}


def fuzz(operation, headers: dict[str, str]) -> None:
    """Send generated requests of one operation and hold the answers against the document."""

    @given(case=operation.as_strategy())
    @settings(
        max_examples=3,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answers_as_documented(case):
        case.call_and_validate(headers=headers, checks=CHECKS, timeout=TIMEOUT_S)

    answers_as_documented()


def test_api_answers_as_documented(api_document, headers):
    faults = {}
    operations = [operation.ok() for operation in api_document.get_all_operations()]
    for operation in operations:
        try:
            fuzz(operation, headers)
        except Exception as fault:  # every operation is heard before the test speaks
            faults[operation.label] = f"{type(fault).__name__}: {fault}"[:1500]
    assert len(operations) >= 20
    assert faults == {}
