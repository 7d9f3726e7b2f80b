"""Data frames of a study: one row per judgment, session or participant.

Columns are those of :mod:`analysis.columns`. Ids and values are fetched in blocks
(:mod:`judgments.frames.fetch`). Names of participants, lists, items and sentences are fetched once and
joined as categories (:mod:`judgments.frames.labels`), so that memory and time grow slowly with the number of
judgments.

Judgments of sets (best–worst) as one row for each compared sentence.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from django.db.models import Count, Exists, OuterRef, QuerySet

from analysis.aggregation.undecided import apply_treatment
from analysis.columns import JUDGMENT_COLUMNS
from experiments.models import Experiment, TrialKind
from experiments.tasks.forced_choice import answer_options
from experiments.tasks.registry import shown_task
from judgments.frames.data_source import data_condition
from judgments.frames.fetch import answer_columns
from judgments.frames.fetch_postgres import UNDECIDED
from judgments.frames.labels import Materials, constant, looked_up, texts
from judgments.models import Flag, Judgment, Participant, Session, Trial
from judgments.sessions.pretrial import own_moduli

MEANING = {1.0: "best", -1.0: "worst", 0.0: ""}
FROM_MATERIALS = ("item", "condition", "expected", "paradigm", "phenomenon")


def row_per_sentence(frame: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """Distribute the answer to each set over its sentences: 1 the best, −1 the worst, 0 the others.

    ``frame`` has a row per trial, with the response as it was sent: the best option's id and the worst's.
    """
    options_of, n_planned = _options(experiment)
    sets = [options_of.get(str(trial), []) for trial in frame["trial"]]
    spread = frame.loc[frame.index.repeat([len(options) for options in sets])].reset_index(drop=True)
    values = [
        _value(option["id"], str(response))
        for options, response in zip(sets, frame["response"], strict=True)
        for option in options
    ]
    keys = [option["sentence_id"] for options in sets for option in options]
    columns_of = _material_columns(experiment)
    materials = pd.DataFrame([columns_of.get(key, dict.fromkeys(FROM_MATERIALS, "")) for key in keys])
    levels = experiment.materials.levels if experiment.materials else {}
    return spread.assign(
        sentence_id=pd.Categorical(keys),
        value=pd.Series(values, dtype="float64"),
        response=pd.Categorical([MEANING.get(value, "") for value in values]),
        n_planned=spread["session"].astype(str).map(n_planned).astype("int64"),
        scale_low=-1.0,
        scale_high=1.0,
        **{
            name: pd.Categorical(materials[name]) if len(materials) else pd.Categorical([])
            for name in FROM_MATERIALS
        },
        **{
            factor: pd.Categorical(
                [columns_of.get(key, {}).get(factor) for key in keys], categories=names, ordered=True
            )
            for factor, names in levels.items()
        },
    )


def _options(experiment: Experiment) -> tuple[dict[str, list[dict[str, str]]], Counter[str]]:
    """Options of every trial, and the number of rows of each session when it is complete."""
    trials = Trial.objects.filter(session__experiment=experiment).values_list("pk", "session_id", "shown")
    options, n_rows = {}, Counter[str]()
    for pk, session, screen in trials.iterator():
        options[str(pk)] = screen.get("options", [])
        n_rows[str(session)] += len(options[str(pk)])
    return options, n_rows


def _value(option_id: str, response: str) -> float:
    """Return the value of a sentence of a set; NaN where the set has no answer."""
    best, _, worst = response.partition(" ")
    if not worst:
        return np.nan
    return float(option_id == best) - float(option_id == worst)


def _material_columns(experiment: Experiment) -> dict[str, dict[str, str]]:
    """Columns that the materials give each sentence, by its key, and its factors."""
    if experiment.materials is None:
        return {}
    rows = experiment.materials.sentences.values_list(
        "key",
        "item__key",
        "condition",
        "expected",
        "item__paradigm__name",
        "item__paradigm__phenomenon__name",
        "factors",
    )
    return {
        key: {**dict(zip(FROM_MATERIALS, (cell or "" for cell in cells), strict=True)), **factors}
        for key, *cells, factors in rows
    }


def tie_treatment(experiment: Experiment) -> str:
    """Return the study's treatment of both and neither; empty if it offers neither."""
    defaults = {parameter.name: parameter.default for parameter in shown_task(experiment.task).parameters}
    if "undecided" not in defaults:
        return ""
    settings = {**defaults, **experiment.parameters}
    return str(settings["undecided"]) if answer_options(settings) else ""


def row_moduli(experiment: Experiment, sessions: "pd.Series[int]") -> Any:
    """Modulus of the reference sentence by row: the participant's own if there is one, else the study's."""
    if experiment.task != "magnitude_estimation":
        return np.nan
    stated = experiment.parameters.get("modulus")
    modulus = float(stated) if stated is not None else np.nan
    if not experiment.parameters.get("own_modulus"):
        return modulus
    return sessions.map(own_moduli(experiment)).astype("float64").fillna(modulus)


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
"""Columns that neither agreement nor exclusion criteria read; quality signals do."""


def judgment_frame(
    experiment: Experiment,
    *,
    kinds: Sequence[str] | None = None,
    narrow: bool = False,
) -> pd.DataFrame:
    """Every judgment of a study's ``data``, ordered by session and position; without withdrawn sessions.

    In forced choice ``item`` is the pair's item (the pair itself where the item has several pairs),
    ``sentence_id`` the chosen member, ``value`` 1 where that is the expected one; a judged set has a row for
    each of its sentences. Factors of the materials follow as columns with ordered levels. ``session`` and
    ``trial`` are numbers as text. ``narrow`` leaves out factors and the :data:`DETAILS`, and of the responses
    all but both and neither; a judged set is always complete.
    """
    is_set = shown_task(experiment.task).shows == "set"
    frame = _trial_frame(experiment, kinds=kinds, narrow=narrow and not is_set)
    return row_per_sentence(frame, experiment)[list(frame.columns)] if is_set else frame


def trial_judgments(experiment: Experiment, trials: QuerySet[Trial]) -> pd.DataFrame:
    """Judgments of the given trials as in :func:`judgment_frame`, but one row each for judged sets too."""
    return _trial_frame(experiment, trials=trials)


def _trial_frame(
    experiment: Experiment,
    *,
    kinds: Sequence[str] | None = None,
    narrow: bool = False,
    trials: QuerySet[Trial] | None = None,
) -> pd.DataFrame:
    """One row per judged trial; with ``trials``, of these only."""
    participants = participant_frame(experiment, trials=trials)
    sessions = session_frame(experiment, trials=trials)
    materials = Materials.of(experiment, trials)
    answers = answer_columns(
        experiment,
        sessions,
        materials.lookups(),
        kinds=kinds,
        narrow=narrow,
        trials=trials,
    )
    session_rows = answers.pop("session_row")
    columns: dict[str, Any] = {}
    for name in ("session", "participant", "list", "session_status", "submission_status"):
        if not (narrow and name in DETAILS):
            columns[name] = looked_up(session_rows, sessions[name])
    native = participants.set_index("participant")["native"]
    columns["native"] = looked_up(session_rows, sessions["participant"].map(native))
    for name in ("flagged", "round", "n_planned"):
        columns[name] = sessions[name].to_numpy()[session_rows]
    columns["task"] = constant(experiment.task, len(session_rows))
    columns |= materials.columns(answers, without=DETAILS if narrow else ())
    columns["value"] = answers.pop("value")
    if narrow:
        columns["response"] = looked_up(answers.pop("undecided"), pd.Series(UNDECIDED, dtype=object))
    else:
        columns |= _details(experiment, sessions, session_rows, answers)
    for name, labels in (("kind", TrialKind.values), ("status", Judgment.Status.values)):
        columns[name] = looked_up(answers.pop(name), pd.Series(labels, dtype=object), only_used=True)
    for name in ("expected_first", "correct"):
        flags = answers.pop(name)  # 1 true, 0 false, −1 missing
        columns[name] = pd.arrays.BooleanArray(flags == 1, flags < 0)
    names = [name for name in JUDGMENT_COLUMNS if not (narrow and name in DETAILS)]
    names += [name for name in materials.levels if name in columns]
    index = pd.RangeIndex(len(session_rows))
    # popped one by one and not copied: two copies of a column of ten million rows do not fit
    frame = pd.DataFrame({name: columns.pop(name) for name in names}, index=index, copy=False)
    if treatment := tie_treatment(experiment):
        frame["value"] = apply_treatment(frame, treatment)
    return frame


def _details(
    experiment: Experiment,
    sessions: pd.DataFrame,
    session_rows: np.ndarray[Any, Any],
    answers: dict[str, Any],
) -> dict[str, Any]:
    """Columns that few statistics read."""
    moduli = np.broadcast_to(row_moduli(experiment, sessions["pk"]), len(sessions)).astype(np.float64)
    return {
        "modulus": moduli[session_rows],
        "trial": texts(pa.array(answers.pop("trial")).cast(pa.large_string())),
        "response": texts(answers.pop("response")),
        "scale_low": answers.pop("scale_low"),
        "scale_high": answers.pop("scale_high"),
        "position": answers.pop("position").astype(np.int64, copy=False),
        "rt_ms": _number_or_nan(answers.pop("rt_ms")),
    }


def _number_or_nan(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    floats = numbers.astype(np.float64)
    floats[numbers < 0] = np.nan
    return floats


def participant_frame(experiment: Experiment, *, trials: QuerySet[Trial] | None = None) -> pd.DataFrame:
    """Participants of a study: pseudonym, background, flags; never a platform's id.

    Participants all of whose sessions belong to other data are left out; ``trials`` restricts them to those
    who were shown one of these.
    """
    participants = Participant.objects.filter(experiment=experiment).order_by("pk")
    if trials is not None:
        participants = participants.filter(pk__in=trials.values("session__participant"))
    sessions = Session.objects.filter(participant=OuterRef("pk"))
    participants = participants.exclude(
        Exists(sessions) & ~Exists(sessions.filter(data_condition(experiment)))
    )
    flagged = set(
        _active_flags(experiment).filter(session__isnull=True).values_list("participant_id", flat=True)
    )
    rows = list(participants.values_list("pk", "pseudonym", "is_native", "is_simulated", "background"))
    return pd.DataFrame(
        {
            "participant": [pseudonym for _, pseudonym, *_ in rows],
            "native": pd.array([native for _, _, native, *_ in rows], dtype=object),
            "simulated": [simulated for *_, simulated, _ in rows],
            "flagged": [pk in flagged for pk, *_ in rows],
            "background": [background for *_, background in rows],
        }
    )


def with_imported_columns(
    judgments: pd.DataFrame, experiment: Experiment, names: Sequence[str]
) -> pd.DataFrame:
    """Add further columns of an imported file, stored with its trials; unchanged if no trial has one."""
    trials = Trial.objects.filter(session__experiment=experiment, attributes__has_any_keys=list(names))
    cells = dict(trials.values_list("pk", "attributes"))
    if not cells:
        return judgments
    rows = [cells.get(int(trial), {}) for trial in judgments["trial"]]
    columns = {name: pd.Series([row.get(name) for row in rows], judgments.index, object) for name in names}
    return judgments.assign(**columns)


def session_frame(experiment: Experiment, *, trials: QuerySet[Trial] | None = None) -> pd.DataFrame:
    """Sessions of a study that were not withdrawn: participant, list, states, times, planned trials.

    ``trials`` restricts them to the sessions that these belong to.
    """
    sessions = Session.objects.filter(experiment=experiment).exclude(status=Session.Status.WITHDRAWN)
    n_shown = Trial.objects.filter(session__experiment=experiment).order_by()
    sessions = sessions.filter(data_condition(experiment))
    if trials is not None:
        sessions = sessions.filter(pk__in=trials.values("session"))
        n_shown = n_shown.filter(session__in=trials.values("session"))
    flags = _active_flags(experiment)
    flagged_participants = set(flags.filter(session__isnull=True).values_list("participant_id", flat=True))
    flagged_sessions = set(flags.values_list("session_id", flat=True))
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
    rows = pd.DataFrame(
        list(sessions.order_by("pk").values_list(*fields, *times)), columns=[*fields, *times], dtype=object
    )
    # counted apart from the sessions' columns, so that the index on sessions alone is read
    n_trials = rows["pk"].map(dict(n_shown.values_list("session").annotate(n=Count("*"))))
    n_trials = n_trials.fillna(0).astype("int64")
    planned = rows["list__n_trials"].where(rows["list__n_trials"].fillna(0).astype(bool), n_trials)
    flagged = rows["participant_id"].isin(flagged_participants) | rows["pk"].isin(flagged_sessions)
    return pd.DataFrame(
        {
            "pk": rows["pk"].astype("int64"),
            "session": rows["pk"].astype(str).astype(object),
            "participant": rows["participant__pseudonym"],
            "list": rows["list__label"].fillna(""),
            "round": rows["list__round"].fillna(1).astype("int64"),
            "session_status": rows["status"],
            **{name: rows[name] for name in times},
            "n_trials": n_trials,
            "n_planned": planned.astype("int64"),
            "flagged": flagged.astype(bool),
        }
    )


def _active_flags(experiment: Experiment) -> QuerySet[Flag]:
    """Flags that were not lifted."""
    return Flag.objects.filter(participant__experiment=experiment, lifted_at__isnull=True)
