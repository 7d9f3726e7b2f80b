"""Every operation of the OpenAPI document: generated requests, valid and not, and sequences of them."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky, FlakyStrategyDefinition, Unsatisfiable
from hypothesis.stateful import RuleBasedStateMachine
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.generation.stateful.state_machine import StepInput, StepOutput
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tools.fuzz.examples import ExampleRequest, example_request, stored_identifiers
from tools.fuzz.site import Site

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
INVENTED = 0.2  # share of requests that keep their generated identifiers
TIMEOUT_S = 120  # the first request for a report computes it, on a machine that may have other work
TRIES = 5  # of a request that is told to wait
STEPS = 12  # requests of one sequence
SEQUENCES = 10  # of one search
VALID = 0.5  # share of well-formed requests with the query and body of the operation's example
#: Operations that no link leads to or from: no response of the API has the token of a session, and the others
#: neither take nor return an identifier at the top of their body.
OUTSIDE_SEQUENCES = (
    "/sessions/{token}/",
    "/v1/power/",
    "/v1/paradigms/lint/",
    "/v1/paradigms/generate/",
    "/v1/study-templates/",
)
EXTRA_CASES = 3_000  # of sequences at most, beyond those that were asked for, until every operation occurred
Outcome = tuple[dict[str, Counter[int]], dict[str, str]]


def fuzz_operations(site: Site, *, cases: int, seed_number: int) -> Outcome:
    """Send cases spread over all operations; statuses and the first fault of each operation."""
    document = schemathesis.openapi.from_url(
        f"{site.address}/api/v1/schema/?format=json", headers=_headers(site), timeout=TIMEOUT_S
    )
    operations = [operation.ok() for operation in document.get_all_operations()]
    statuses: dict[str, Counter[int]] = defaultdict(Counter)
    faults: dict[str, str] = {}
    rng = random.Random(seed_number)
    for operation in operations:
        example = example_request(site, operation.method.upper(), operation.path)
        _send_example(site, operation, example, statuses=statuses, faults=faults)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _fuzz(
                site,
                operation,
                example,
                mode=mode,
                examples=-(-cases // (2 * len(operations))),
                rng=rng,
                statuses=statuses,
                faults=faults,
            )
        print(f"  {operation.label:70} {dict(sorted(statuses[operation.label].items()))}", flush=True)
    # Of some operations nothing can be invalid: the others make up for it.
    if (missing := cases - sum(counts.total() for counts in statuses.values())) > 0:
        for operation in operations:
            _fuzz(
                site,
                operation,
                example_request(site, operation.method.upper(), operation.path),
                mode=GenerationMode.POSITIVE,
                examples=-(-missing // len(operations)),
                rng=rng,
                statuses=statuses,
                faults=faults,
            )
    return statuses, faults


class SequenceCounts:
    """Of the sequences: how many called each operation, and how often it followed a link."""

    def __init__(self, operations: Iterable[str]) -> None:
        self.operations = sorted(operations)
        self.sequences: Counter[str] = Counter()
        self.links: Counter[str] = Counter()

    def missing(self) -> list[str]:
        """Operations that no sequence has called, except those that none can reach."""
        return [
            operation
            for operation in self.operations
            if not self.sequences[operation] and not any(part in operation for part in OUTSIDE_SEQUENCES)
        ]

    def print(self) -> None:
        """Print both counts of each operation."""
        for operation in self.operations:
            print(
                f"  {operation:70} in {self.sequences[operation]:5,} sequences, "
                f"{self.links[operation]:5,} links followed"
            )


def fuzz_sequences(site: Site, *, cases: int, seed_number: int) -> Outcome:
    """Send sequences in which a request uses identifiers from earlier responses.

    An operation that occurred in no sequence is a fault; sequences go on for a while until all have.
    """
    document = schemathesis.openapi.from_url(
        f"{site.address}/api/v1/schema/?format=json", headers=_headers(site), timeout=TIMEOUT_S
    )
    statuses: dict[str, Counter[int]] = defaultdict(Counter)
    faults: dict[str, str] = {}

    examples = {
        operation.label: example_request(site, operation.method.upper(), operation.path)
        for operation in (result.ok() for result in document.get_all_operations())
    }
    rng = random.Random(seed_number)
    counts = SequenceCounts(examples)

    class Sequence(document.as_state_machine()):  # type: ignore[misc]  # built at run time
        """Requests that follow each other, by the links that responses and addresses imply."""

        content: dict[str, Any] = {}

        def setup(self) -> None:
            """Begin a sequence, in which no operation was called."""
            super().setup()
            self.called: set[str] = set()

        def step(self, input: StepInput) -> StepOutput:
            """Complete the identifiers that no earlier response gave, and some bodies, so that rows exist."""
            case, self.content = input.case, {}
            label = case.operation.label
            counts.sequences[label] += label not in self.called
            counts.links[label] += input.transition is not None and input.is_applied
            self.called.add(label)
            # A path without one of its identifiers, which the search also makes, cannot be sent.
            is_whole = case.operation.path.count("{") <= len(case.path_parameters or {})
            if rng.random() > INVENTED or not is_whole:
                linked = {
                    name: case.path_parameters[name]
                    for _, name in input.applied_parameters
                    if name in (case.path_parameters or {})
                }
                case.path_parameters = stored_identifiers(
                    site.facts,
                    case.path_parameters or {},
                    case.operation.path,
                    method=case.method,
                    rng=rng,
                    linked=linked,
                )
                if rng.random() < VALID:
                    example = examples[case.operation.label]
                    case.query, self.content = example.query, example.content
            return super().step(input)

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            """Send the token, and the example's body where this step has it."""
            return {"headers": _headers(site), "timeout": TIMEOUT_S, **self.content}

        def validate_response(self, response: Any, case: Any, **unused: Any) -> None:
            """Count the status and keep the fault."""
            statuses[case.operation.label][response.status_code] += 1
            _validate(case, response, faults)

    def is_enough() -> bool:
        n_sent = sum(by_status.total() for by_status in statuses.values())
        return n_sent >= cases + EXTRA_CASES or (n_sent >= cases and not counts.missing())

    while not is_enough():
        machine: type[RuleBasedStateMachine] = seed(rng.randrange(2**32))(type("Sequence", (Sequence,), {}))
        # Hypothesis expects the same answers to the same choices; a platform that stores does not give them.
        with suppress(FlakyStrategyDefinition, Flaky):
            machine.run(  # type: ignore[attr-defined]  # of schemathesis's base class
                settings=settings(
                    max_examples=SEQUENCES,
                    stateful_step_count=STEPS,
                    deadline=None,
                    database=None,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )
            )
    counts.print()
    for operation in counts.missing():
        faults.setdefault(operation, "occurred in no sequence")
    return statuses, faults


def _send_example(
    site: Site,
    operation: Any,
    example: ExampleRequest,
    *,
    statuses: dict[str, Counter[int]],
    faults: dict[str, str],
) -> None:
    """Send the operation's valid request, which has to succeed."""
    case = operation.Case(path_parameters=example.path, query=example.query)
    for _ in range(TRIES):
        response = case.call(headers=_headers(site), timeout=TIMEOUT_S, **example.content)
        if response.status_code != 429:
            break
        time.sleep(float(response.headers["retry-after"][0]))  # earlier requests used up the limit
    statuses[operation.label][response.status_code] += 1
    _validate(case, response, faults)
    if not 200 <= response.status_code < 300:
        refusal = f"the example was answered {response.status_code}: {response.text[:300]}"
        faults.setdefault(operation.label, refusal)


def _fuzz(
    site: Site,
    operation: Any,
    example: ExampleRequest,
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
        content: dict[str, Any] = {}
        if rng.random() > INVENTED:
            case.path_parameters = stored_identifiers(
                site.facts, case.path_parameters or {}, operation.path, method=case.method, rng=rng
            )
            if mode is GenerationMode.POSITIVE and rng.random() < VALID:
                case.query, content = example.query, example.content
        response = case.call(headers=_headers(site), timeout=TIMEOUT_S, **content)
        statuses[operation.label][response.status_code] += 1
        _validate(case, response, faults)

    try:
        send()
    except Unsatisfiable:
        return  # nothing of this operation can be invalid
    except Exception as error:  # every operation has its turn
        faults.setdefault(operation.label, f"{mode.value}: {type(error).__name__}: {error}")


def _validate(case: Any, response: Any, faults: dict[str, str]) -> None:
    try:
        case.validate_response(response, checks=CHECKS)
    except BaseException as error:  # the library's failures are groups of exceptions
        if isinstance(error, KeyboardInterrupt):
            raise
        faults.setdefault(case.operation.label, f"{type(error).__name__}: {error}"[:3000])


def _headers(site: Site) -> dict[str, str]:
    return {"Authorization": f"Token {site.facts['token']}"}
