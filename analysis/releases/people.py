"""Who answered and when, as far as a release may say: pseudonyms, never a platform's id."""

import pandas as pd
from django.db.models import Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from analysis.exclusions.apply import Excluded
from analysis.gold.codebook import PARTICIPANT_FILE
from analysis.rows import is_kind, numbers
from experiments.models import Experiment
from judgments.measured import no_formula
from judgments.models import Judgment, Participant, Session


def participant_table(
    experiment: Experiment, judgments: pd.DataFrame, excluded: Excluded
) -> tuple[pd.DataFrame, list[str]]:
    """One row per participant with a judgment, and the names of the published background columns."""
    published = published_questions(experiment)
    counts = _counts(judgments, excluded)
    rows = []
    known = Participant.objects.filter(experiment=experiment).order_by("pk")
    fields = ("pseudonym", "is_native", "is_simulated", "background")
    for pseudonym, native, simulated, background in known.values_list(*fields):
        if pseudonym in counts.index:
            answers = {f"background_{name}": _answer(background.get(name)) for name in published}
            rows.append({"participant": pseudonym, "native": native, "simulated": simulated, **answers})
    columns = ["participant", "native", "simulated", *(f"background_{name}" for name in published)]
    table = pd.DataFrame(rows, columns=columns, dtype=object).merge(counts, on="participant", how="left")
    return table[[*PARTICIPANT_FILE, *columns[3:]]], columns[3:]


def published_questions(experiment: Experiment) -> list[str]:
    """Questions of the questionnaire whose answers may be published: those that say ``"publish": true``."""
    questions = experiment.questionnaire if isinstance(experiment.questionnaire, list) else []
    return [
        str(question["name"])
        for question in questions
        if isinstance(question, dict) and question.get("publish") is True and question.get("name")
    ]


def sittings_of(experiment: Experiment, round_number: int | None = None) -> QuerySet[Session]:
    """Sessions that were no tests, perhaps of one round; a session without a list is of the first."""
    sittings = Session.objects.filter(experiment=experiment, is_test=False)
    if round_number is None:
        return sittings
    of_round = Q(list__round=round_number)
    return sittings.filter(of_round | Q(list__isnull=True) if round_number == 1 else of_round)


def answered_between(experiment: Experiment, round_number: int | None = None) -> tuple[str, str]:
    """First and last answer (UTC, ISO 8601), empty without any."""
    rows = Judgment.objects.filter(trial__session__in=sittings_of(experiment, round_number))
    at = Coalesce("received_at", "answered_at")
    found = rows.aggregate(first=Min(at), last=Max(at))
    first, last = (f"{when:%Y-%m-%dT%H:%M:%SZ}" if when else "" for when in (found["first"], found["last"]))
    return first, last


def _counts(judgments: pd.DataFrame, excluded: Excluded) -> pd.DataFrame:
    """Sessions, answered targets, those kept, and the step that removed everything of a participant."""
    answered = is_kind(judgments, ("target",)) & ~pd.isna(numbers(judgments))
    participant = judgments["participant"].astype(object)
    kept = judgments.index.isin(excluded.kept.index)
    by_person = pd.DataFrame({"answered": answered, "kept": answered & kept, "row": kept}).groupby(
        participant
    )
    counts = by_person[["answered", "kept"]].sum().rename(columns={"answered": "judgments"})
    sessions = judgments["session"].astype(object).groupby(participant).nunique().rename("sessions")
    first_step = excluded.mask.groupby(excluded.mask["participant"].astype(object))["step"].first()
    gone = ~by_person["row"].any()
    table = counts.join(sessions)
    table["excluded_by"] = first_step.reindex(table.index).where(gone.reindex(table.index))
    return table.rename_axis("participant")


def _answer(value: object) -> str:
    if isinstance(value, list):
        return str(no_formula("; ".join(str(part) for part in value)))
    return "" if value is None else str(no_formula(value))
