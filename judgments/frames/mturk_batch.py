"""A study of forced choices in the form of MTurk's batch results: one row per session.

The file is read again by ``import_judgments --format mturk-batch``. Workers are pseudonyms in the column
``anonCode``; their ids and those of their assignments are filled in for payments only.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from io import StringIO
from itertools import groupby
from typing import Any

from django.db.models import Count, Max

from analysis.errors import BadInput
from analysis.text import no_formula
from experiments.models import Experiment, TrialKind
from judgments.models import Judgment, Payment, PlatformIdentity, Session

COLUMNS = (
    *("HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments"),
    *("RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration"),
    *("NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus"),
    *("AcceptTime", "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback"),
    *("WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate"),
)
KINDS = (TrialKind.TARGET, TrialKind.CATCH)  # the form has no other kinds
STATUSES = {"approved": "Approved", "not_paid": "Rejected", "undecided": "Submitted"}
TIME = "%a %b %d %H:%M:%S UTC %Y"
CHUNK = 2_000
OF_MATERIALS = ("Input.field_", "Input.item_")  # beginnings of columns


def batch_csv(study: Experiment, *, with_ids: bool = False) -> Iterator[str]:
    """The file in lines; raises ``BadInput`` for a study without pairs."""
    if study.task != "forced_choice":
        raise BadInput(
            "the form of MTurk's batch results has pairs, and this study shows none.",
            remedy="Download the judgments as CSV instead.",
        )
    return _lines(study, with_ids=with_ids)


def _lines(study: Experiment, *, with_ids: bool) -> Iterator[str]:
    judgments = (
        Judgment.objects.filter(
            trial__session__experiment=study, trial__session__is_test=False, trial__kind__in=KINDS
        )
        .exclude(trial__session__status=Session.Status.WITHDRAWN)
        .select_related("trial__pair__paradigm", "trial__pair__good", "trial__pair__bad")
        .order_by("trial__session", "trial__position")
    )
    counts = judgments.order_by().values("trial__session").annotate(n=Count("pk"))
    n_pairs = counts.aggregate(most=Max("n"))["most"] or 0
    questions = sorted(
        {
            name
            for background in _sessions(study).values_list("participant__background", flat=True)
            for name in background
        }
    )
    header = [*COLUMNS, "anonCode", "Input.list"]
    for number in range(1, n_pairs + 1):
        header += [f"Input.field_{number}_1", f"Input.field_{number}_2", f"Input.item_{number}_condition"]
    header += [
        *(f"Answer.Choice{number}" for number in range(1, n_pairs + 1)),
        "Answer.native",
        *(f"Answer.background_{name}" for name in questions),
        *("Approve", "Reject"),
    ]
    yield _line(header)
    for session_ids, groups in _chunks(_by_session(judgments)):
        facts = _sessions(study).filter(pk__in=session_ids).prefetch_related("payments__reversal")
        sessions = {session.pk: session for session in facts}
        for session_id, rows in groups:
            cells = _session_cells(sessions[session_id], with_ids=with_ids)
            cells |= _answers(rows)
            yield _line([_cell(name, cells.get(name, "")) for name in header])


def _cell(name: str, text: str) -> str:
    """A cell without formulas; sentences and paradigms are exactly as stored, because imports read them."""
    return text if name.startswith(OF_MATERIALS) else str(no_formula(text))


def _sessions(study: Experiment) -> Any:
    return Session.objects.filter(experiment=study, is_test=False).select_related(
        "participant__identity", "campaign", "list"
    )


def _by_session(judgments: Any) -> Iterator[tuple[int, list[Judgment]]]:
    rows = judgments.iterator(chunk_size=CHUNK)
    for session_id, group in groupby(rows, key=lambda judgment: judgment.trial.session_id):
        yield session_id, list(group)


def _chunks(
    groups: Iterator[tuple[int, list[Judgment]]],
) -> Iterator[tuple[list[int], list[tuple[int, list[Judgment]]]]]:
    chunk: list[tuple[int, list[Judgment]]] = []
    for group in groups:
        chunk.append(group)
        if len(chunk) == 200:
            yield [session_id for session_id, _ in chunk], chunk
            chunk = []
    if chunk:
        yield [session_id for session_id, _ in chunk], chunk


def _session_cells(session: Session, *, with_ids: bool) -> dict[str, str]:
    participant, campaign = session.participant, session.campaign
    decision = Payment.pay_state(session.payments.all())
    identity: PlatformIdentity | None = getattr(participant, "identity", None) if with_ids else None
    cells = {
        "AssignmentId": str(session.pk),
        "anonCode": "" if identity else participant.pseudonym,
        "AssignmentStatus": STATUSES[decision],
        "AcceptTime": _time(session.started_at),
        "SubmitTime": _time(session.completed_at),
        "WorkTimeInSeconds": _duration(session.started_at, session.completed_at),
        "Input.list": session.list.label if session.list else "",
        "Answer.native": "" if participant.is_native is None else "yes" if participant.is_native else "no",
        **{f"Answer.background_{name}": _text(value) for name, value in participant.background.items()},
    }
    if campaign is not None:
        cells |= {
            "HITTypeId": campaign.external_id,
            "Title": str(campaign.options.get("title", "")),
            "Description": str(campaign.options.get("description", "")),
            "Keywords": str(campaign.options.get("keywords", "")),
            "Reward": f"${campaign.reward_minor / 100:.2f}" if campaign.currency == "USD" else "",
            "CreationTime": _time(campaign.published_at),
            "MaxAssignments": str(campaign.places),
        }
    if identity is not None:
        cells |= {
            "WorkerId": identity.external_id,
            "AssignmentId": identity.parameters.get("assignmentId", "") or str(session.pk),
            "HITId": identity.parameters.get("hitId", ""),
        }
    return cells


def _answers(judgments: Sequence[Judgment]) -> dict[str, str]:
    cells: dict[str, str] = {}
    for number, judgment in enumerate(judgments, start=1):
        trial = judgment.trial
        options = _options(trial.shown, judgment)
        expected = 1 if trial.expected_first else 2
        paradigm = trial.pair.paradigm if trial.pair else None
        label = "catch" if trial.kind == TrialKind.CATCH else paradigm.name if paradigm else ""
        cells |= {
            f"Input.field_{number}_1": options[0],
            f"Input.field_{number}_2": options[1],
            f"Input.item_{number}_condition": f"{label}_ans{expected}",
        }
        if judgment.value is not None:
            chosen = expected if judgment.value == 1 else 3 - expected
            cells[f"Answer.Choice{number}"] = f"{chosen}. {options[chosen - 1]}"
    return cells


def _options(shown: Mapping[str, Any], judgment: Judgment) -> tuple[str, str]:
    """The two texts in the order of the screen."""
    texts = [str(option.get("text", "")) for option in shown.get("options", ())]
    if len(texts) == 2:
        return texts[0], texts[1]
    pair = judgment.trial.pair
    if pair is None:
        return "", ""
    good, bad = pair.good.text, pair.bad.text
    return (good, bad) if judgment.trial.expected_first else (bad, good)


def _time(at: datetime | None) -> str:
    return at.strftime(TIME) if at else ""


def _duration(start: datetime | None, end: datetime | None) -> str:
    return str(int((end - start).total_seconds())) if start and end else ""


def _text(value: Any) -> str:
    return "|".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _line(cells: Sequence[str]) -> str:
    buffer = StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return buffer.getvalue()
