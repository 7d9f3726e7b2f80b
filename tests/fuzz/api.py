"""Every operation of the OpenAPI document: generated requests, valid and not, and sequences of them."""

import random
from collections import Counter, defaultdict
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import RuleBasedStateMachine
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.fuzz.site import Site

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
INVENTED = 0.2  # share of requests that keep their generated identifiers
STEPS = 12  # requests of one sequence
#: Bodies that are valid: generated ones miss what no schema can say, such as the name of a task.
VALID: dict[str, dict[str, Any]] = {
    "POST /api/v1/studies/": {"title": "A study", "task": "forced_choice"},
}
Outcome = tuple[dict[str, Counter[int]], dict[str, str]]


def fuzz_operations(site: Site, *, cases: int, seed_number: int) -> Outcome:
    """Send cases spread over all operations; statuses and the first fault of each operation."""
    document = schemathesis.openapi.from_url(
        f"{site.address}/api/v1/schema/?format=json", headers=_headers(site)
    )
    operations = [operation.ok() for operation in document.get_all_operations()]
    statuses: dict[str, Counter[int]] = defaultdict(Counter)
    faults: dict[str, str] = {}
    rng = random.Random(seed_number)
    for operation in operations:
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _fuzz(
                site,
                operation,
                mode=mode,
                examples=-(-cases // (2 * len(operations))),
                rng=rng,
                statuses=statuses,
                faults=faults,
            )
    return statuses, faults


def fuzz_sequences(site: Site, *, cases: int, seed_number: int) -> Outcome:
    """Send sequences in which a request uses identifiers from earlier responses."""
    document = schemathesis.openapi.from_url(
        f"{site.address}/api/v1/schema/?format=json", headers=_headers(site)
    )
    statuses: dict[str, Counter[int]] = defaultdict(Counter)
    faults: dict[str, str] = {}

    class Sequence(document.as_state_machine()):  # type: ignore[misc]  # built at run time
        """Requests that follow each other, by the links that responses and addresses imply."""

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            """Send the token."""
            return {"headers": _headers(site)}

        def validate_response(self, response: Any, case: Any, **unused: Any) -> None:
            """Count the status and keep the fault."""
            statuses[case.operation.label][response.status_code] += 1
            _validate(case, response, faults)

    machine: type[RuleBasedStateMachine] = Sequence
    machine.run(  # type: ignore[attr-defined]  # of schemathesis's base class
        settings=settings(
            max_examples=max(1, cases // STEPS),
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
    )
    return statuses, faults


def _fuzz(
    site: Site,
    operation: Any,
    *,
    mode: GenerationMode,
    examples: int,
    rng: random.Random,
    statuses: dict[str, Counter[int]],
    faults: dict[str, str],
) -> None:
    @seed(rng.randrange(2**32))
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def send(case: Any) -> None:
        if rng.random() > INVENTED:
            case.path_parameters = stored_identifiers(site.facts, case.path_parameters or {}, case.path, rng)
            if mode is GenerationMode.POSITIVE and operation.label in VALID:
                case.body = VALID[operation.label]
        response = case.call(headers=_headers(site))
        statuses[operation.label][response.status_code] += 1
        _validate(case, response, faults)

    try:
        send()
    except Unsatisfiable:
        return  # nothing of this operation can be invalid
    except Exception as error:  # every operation has its turn
        faults.setdefault(operation.label, f"{mode.value}: {type(error).__name__}: {error}")


def stored_identifiers(
    facts: dict[str, Any], generated: dict[str, Any], path: str, rng: random.Random
) -> dict[str, Any]:
    """Identifiers that exist in place of those that were generated."""
    if "/reports/{number}" in path and facts["reports"]:  # a report belongs to its study
        stored = rng.choice(facts["reports"])
        return {name: stored.get(name, value) for name, value in generated.items()}
    kinds = {
        "slug": facts["materials" if "/materials/" in path else "studies"],
        "token": facts["sessions"],
        "number": facts["releases"],
        "id": facts["jobs" if "/jobs/" in path else "comparisons" if "/comparisons/" in path else "runs"],
        "name": facts["files"],
    }
    return {name: rng.choice(kinds[name]) if kinds.get(name) else value for name, value in generated.items()}


def _validate(case: Any, response: Any, faults: dict[str, str]) -> None:
    try:
        case.validate_response(response, checks=CHECKS)
    except BaseException as error:  # the library's failures are groups of exceptions
        if isinstance(error, KeyboardInterrupt):
            raise
        faults.setdefault(case.operation.label, f"{type(error).__name__}: {error}"[:3000])


def _headers(site: Site) -> dict[str, str]:
    return {"Authorization": f"Token {site.facts['token']}"}
