"""Quotas: limits of participants with one answer of the questionnaire, such as an age or a dialect.

Participants who would exceed a quota are returned to the channel's quota link before the first trial.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import Experiment, PresentationList
from judgments.models import Participant, Session
from judgments.sessions.places import holds_place
from judgments.sessions.removal import OVER_QUOTA, screen_out
from judgments.write_lock import write_lock

RANGE = re.compile(r"\s*(-?\d+)\s*(?:-|–|to)\s*(-?\d+)\s*")
MAX_QUOTAS = 40


@dataclass(frozen=True)
class Quota:
    """At most ``limit`` participants with ``answer`` (a text, a number or a range) to ``question``."""

    question: str
    answer: str
    limit: int

    def admits(self, background: Mapping[str, Any]) -> bool:
        """Whether a participant with these answers counts towards the quota."""
        answer = background.get(self.question)
        answers = answer if isinstance(answer, list) else [answer]
        if limits := RANGE.fullmatch(self.answer):
            low, high = int(limits[1]), int(limits[2])
            return any(isinstance(value, int) and low <= value <= high for value in answers)
        quota_answer = self.answer.strip().casefold()
        return any(value is not None and str(value).strip().casefold() == quota_answer for value in answers)


@dataclass(frozen=True)
class QuotaCount:
    """A quota with the question as participants read it, and its number of participants."""

    quota: Quota
    label: str
    n: int

    @property
    def is_full(self) -> bool:
        """Whether no further participant with this answer may begin."""
        return self.n >= self.quota.limit


def list_quotas(experiment: Experiment) -> list[Quota]:
    """The quotas of a study."""
    return [Quota(**row) for row in experiment.quotas]


def checked_quotas(experiment: Experiment, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Check quotas against the questionnaire and return them as they are stored; raises ``BadInput``."""
    questions = {str(question["name"]): question for question in experiment.questionnaire}
    quota_keys: set[tuple[str, str]] = set()
    for number, row in enumerate(rows, start=1):
        question, answer = questions.get(row["question"]), str(row["answer"]).strip()
        if question is None:
            raise BadInput(f"quota {number} is of no question.", remedy="Choose one of the questionnaire.")
        possible = _possible_answers(question)
        if possible and answer.casefold() not in {text.casefold() for text in possible}:
            raise BadInput(
                f"quota {number}: {answer!r} is no answer to “{question['label']}”.",
                remedy=f"Its answers are {', '.join(possible)}.",
            )
        limits = RANGE.fullmatch(answer)
        if question.get("type") == "number" and not limits and not re.fullmatch(r"-?\d+", answer):
            raise BadInput(f"quota {number}: {answer!r} is no number.", remedy="Write 30 or 18-29.")
        if limits and int(limits[1]) > int(limits[2]):
            raise BadInput(f"quota {number}: {answer!r} ends before it begins.", remedy="Write 18-29.")
        if (row["question"], answer.casefold()) in quota_keys:
            raise BadInput(f"quota {number} is there twice.", remedy="Remove one of them.")
        quota_keys.add((row["question"], answer.casefold()))
    if len(rows) > MAX_QUOTAS:
        raise BadInput(f"there are {len(rows)} quotas.", remedy=f"At most {MAX_QUOTAS} are possible.")
    return [
        {"question": row["question"], "answer": str(row["answer"]).strip(), "limit": row["limit"]}
        for row in rows
    ]


def _possible_answers(question: Mapping[str, Any]) -> list[str]:
    if question.get("type") == "yes_no":
        return ["yes", "no"]
    return [str(choice) for choice in question.get("choices", ())]


def quota_counts(experiment: Experiment) -> list[QuotaCount]:
    """Count participants who completed or are in session, for each quota."""
    quotas = list_quotas(experiment)
    if not quotas:
        return []
    labels = {str(question["name"]): str(question["label"]) for question in experiment.questionnaire}
    backgrounds = _backgrounds(experiment, is_test=False)
    return [
        QuotaCount(
            quota,
            labels.get(quota.question, quota.question),
            sum(quota.admits(answers) for answers in backgrounds.values()),
        )
        for quota in quotas
    ]


def _backgrounds(experiment: Experiment, *, is_test: bool) -> dict[int, dict[str, Any]]:
    """Answers of the participants who take a place, by participant."""
    sessions = Session.objects.filter(holds_place(timezone.now()), experiment=experiment, is_test=is_test)
    rows = sessions.filter(version__is_preview=False).values_list("participant", "participant__background")
    return dict(rows)


def close_full_quota(session: Session) -> bool:
    """End a session whose participant would exceed a quota; False if no quota is full.

    To be called in the transaction that stores the answers.
    """
    quotas = list_quotas(session.experiment)
    if not quotas or session.version.is_preview:
        return False
    with write_lock(), transaction.atomic():
        # Race: two participants request the last place of a quota; the lock on the lists serializes them.
        list(PresentationList.objects.select_for_update(no_key=True).filter(version=session.version_id))
        backgrounds = _backgrounds(session.experiment, is_test=session.is_test)
        backgrounds.pop(session.participant_id, None)
        background = Participant.objects.values_list("background", flat=True).get(pk=session.participant_id)
        for quota in quotas:
            if not quota.admits(background):
                continue
            if sum(quota.admits(answers) for answers in backgrounds.values()) >= quota.limit:
                details = {"question": quota.question, "answer": quota.answer, "limit": quota.limit}
                return screen_out(session, details=details, kind=OVER_QUOTA)
    return False
