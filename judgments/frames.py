"""Rows become frames here and nowhere else: one row per judgment, under the names of :mod:`analysis.columns`.

Narrow facts (ids and answers) are fetched in blocks (:mod:`judgments.facts`); what repeats (names of people,
lists, items, sentences) is fetched once and joined as categories (:mod:`judgments.named`), so that memory and
time grow slowly with the number of judgments.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from django.db.models import Count, Exists, OuterRef

from analysis.columns import JUDGMENT_COLUMNS
from analysis.undecided import treated
from experiments.models import Experiment, TrialKind
from judgments.declared import moduli_of, treatment_of
from judgments.facts import answer_facts
from judgments.models import Flag, Judgment, Participant, Session, Trial
from judgments.named import Materials, constant, looked_up, texts
from judgments.packed import UNDECIDED
from judgments.sets import row_per_sentence
from judgments.tasks.registry import shown_task

DETAILS = (
    "trial",
    "position",
    "list",
    "condition",
    "scale_low",
    "scale_high",
    "modulus",
    "shown_first",
    "rt_ms",
)
"""Columns that agreement and the criteria of exclusion do not read; signals do."""


def judgment_frame(
    experiment: Experiment,
    *,
    kinds: Sequence[str] | None = None,
    include_tests: bool = False,
    narrow: bool = False,
) -> pd.DataFrame:
    """Every judgment of a study, ordered by session and position; people who withdrew are left out.

    In forced choice ``item`` is the pair's item (the pair itself where the item has several pairs),
    ``sentence_id`` the chosen member, ``value`` 1 where that is the expected one; a judged set has a row for
    each of its sentences. ``session`` and ``trial`` are numbers as text. ``narrow`` leaves out the
    :data:`DETAILS`, and of the responses all but both and neither; a judged set comes whole.
    """
    sets = shown_task(experiment.task).shows == "set"
    narrow = narrow and not sets
    people = participant_frame(experiment, include_tests=include_tests)
    sittings = session_frame(experiment, include_tests=include_tests)
    materials = Materials.of(experiment)
    facts = answer_facts(
        experiment,
        sittings,
        materials.lookups(),
        kinds=kinds,
        include_tests=include_tests,
        narrow=narrow,
    )
    sitting = facts.pop("sitting")
    index = pd.RangeIndex(len(sitting))
    columns: dict[str, Any] = {}
    for name in ("session", "participant", "list", "session_status", "submission_status"):
        if not (narrow and name in DETAILS):
            columns[name] = looked_up(sitting, sittings[name])
    native = people.set_index("participant")["native"]
    columns["native"] = looked_up(sitting, sittings["participant"].map(native))
    for name in ("flagged", "round", "n_planned"):
        columns[name] = sittings[name].to_numpy()[sitting]
    columns["task"] = constant(experiment.task, len(index))
    columns |= materials.columns(facts, without=DETAILS if narrow else ())
    columns["value"] = facts.pop("value")
    if narrow:
        columns["response"] = looked_up(facts.pop("undecided"), pd.Series(UNDECIDED, dtype=object))
    else:
        columns |= _details(experiment, sittings, sitting, facts)
    for name, words in (("kind", TrialKind.values), ("status", Judgment.Status.values)):
        columns[name] = looked_up(facts.pop(name), pd.Series(words, dtype=object), only_used=True)
    for name in ("expected_first", "correct"):
        said = facts.pop(name)
        columns[name] = pd.arrays.BooleanArray(said == 1, said < 0)
    names = [name for name in JUDGMENT_COLUMNS if not (narrow and name in DETAILS)]
    frame = pd.DataFrame({name: columns.pop(name) for name in names}, index=index, copy=False)
    if treatment := treatment_of(experiment):
        frame["value"] = treated(frame, treatment)
    if sets:
        frame = row_per_sentence(frame, experiment)[list(JUDGMENT_COLUMNS)]
    return frame


def _details(
    experiment: Experiment, sittings: pd.DataFrame, sitting: np.ndarray, facts: dict[str, Any]
) -> dict[str, Any]:
    """Columns that few statistics read."""
    moduli = np.broadcast_to(moduli_of(experiment, sittings["pk"]), len(sittings)).astype(np.float64)
    return {
        "modulus": moduli[sitting],
        "trial": texts(pa.array(facts.pop("trial")).cast(pa.large_string())),
        "response": texts(facts.pop("response")),
        "scale_low": facts.pop("scale_low"),
        "scale_high": facts.pop("scale_high"),
        "position": facts.pop("position").astype(np.int64, copy=False),
        "rt_ms": _number_or_nan(facts.pop("rt_ms")),
    }


def _number_or_nan(numbers: np.ndarray) -> np.ndarray:
    found = numbers.astype(np.float64)
    found[numbers < 0] = np.nan
    return found


def participant_frame(experiment: Experiment, *, include_tests: bool = False) -> pd.DataFrame:
    """Every participant of a study: pseudonym, background, flags; never a platform's id.

    Who took part in tests only is left out unless asked for.
    """
    rows = Participant.objects.filter(experiment=experiment).order_by("pk")
    if not include_tests:
        sittings = Session.objects.filter(participant=OuterRef("pk"))
        rows = rows.exclude(Exists(sittings) & ~Exists(sittings.filter(is_test=False)))
    flagged = set(
        _standing_flags(experiment).filter(session__isnull=True).values_list("participant_id", flat=True)
    )
    found = list(rows.values_list("pk", "pseudonym", "is_native", "is_simulated", "background"))
    return pd.DataFrame(
        {
            "participant": [pseudonym for _, pseudonym, *_ in found],
            "native": pd.array([native for _, _, native, *_ in found], dtype=object),
            "simulated": [simulated for *_, simulated, _ in found],
            "flagged": [pk in flagged for pk, *_ in found],
            "background": [background for *_, background in found],
        }
    )


def session_frame(experiment: Experiment, *, include_tests: bool = False) -> pd.DataFrame:
    """Every session of a study that was not withdrawn: participant, list, states, times, trials planned."""
    rows = _sessions(experiment, include_tests).order_by("pk")
    flags = _standing_flags(experiment)
    people = set(flags.filter(session__isnull=True).values_list("participant_id", flat=True))
    sittings = set(flags.values_list("session_id", flat=True))
    fields = (
        "pk",
        "participant_id",
        "participant__pseudonym",
        "list__label",
        "list__round",
        "list__n_trials",
        "status",
    )
    times = ("submission_status", "started_at", "completed_at", "work_time_s")
    found = pd.DataFrame(list(rows.values_list(*fields, *times)), columns=[*fields, *times], dtype=object)
    n_trials = found["pk"].map(_trials_by_session(experiment)).fillna(0).astype("int64")
    planned = found["list__n_trials"].where(found["list__n_trials"].fillna(0).astype(bool), n_trials)
    flagged = found["participant_id"].isin(people) | found["pk"].isin(sittings)
    return pd.DataFrame(
        {
            "pk": found["pk"].astype("int64"),
            "session": found["pk"].astype(str).astype(object),
            "participant": found["participant__pseudonym"],
            "list": found["list__label"].fillna(""),
            "round": found["list__round"].fillna(1).astype("int64"),
            "session_status": found["status"],
            **{name: found[name] for name in times},
            "n_trials": n_trials,
            "n_planned": planned.astype("int64"),
            "flagged": flagged.astype(bool),
        }
    )


def _trials_by_session(experiment: Experiment) -> dict[int, int]:
    """Counted apart from the sessions' columns, so that the index on sessions alone is read."""
    trials = Trial.objects.filter(session__experiment=experiment).order_by()
    return dict(trials.values_list("session").annotate(n=Count("*")))


def _standing_flags(experiment: Experiment) -> Any:
    return Flag.objects.filter(participant__experiment=experiment, lifted_at__isnull=True)


def _sessions(experiment: Experiment, include_tests: bool) -> Any:
    rows = Session.objects.filter(experiment=experiment).exclude(status=Session.Status.WITHDRAWN)
    return rows if include_tests else rows.filter(is_test=False)
