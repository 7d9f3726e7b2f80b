"""Judgments of a study as rows for the list page and the API, with the sentences that each answer names."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from analysis.columns import CONTRACT
from experiments.materials.schema import CONTEXT
from experiments.models import Experiment, Sentence
from experiments.stimuli.composition import compose
from experiments.studies.languages import direction
from experiments.tasks.registry import shown_task
from judgments.frames.build import trial_judgments
from judgments.frames.data_source import data_condition
from judgments.frames.export import records
from judgments.models import Judgment, Session, Trial

COLUMNS = [*CONTRACT, "kind", "status", "correct", "list", "round", "paradigm", "pair_id"]
#: Columns that a frame fills with an empty text and the API with null.
EMPTY_AS_NULL = ("shown_first", "list", "paradigm", "pair_id")


def counted_judgments(study: Experiment) -> QuerySet[Judgment]:
    """Judgments of the study's ``data``, by default those that count; without withdrawn sessions."""
    of_data = data_condition(study, "trial__session__")
    judgments = Judgment.objects.filter(of_data, trial__session__experiment=study)
    return judgments.exclude(trial__session__status=Session.Status.WITHDRAWN)


def as_rows(study: Experiment, trials: Sequence[int]) -> list[dict[str, Any]]:
    """Judgments of these trials in their order, under the names and with the values of the judgment frame."""
    if not trials:
        return []
    frame = trial_judgments(study, Trial.objects.filter(pk__in=trials))
    rows = {row["trial"]: row for row in records(frame, COLUMNS)}
    for row in rows.values():
        row.update({name: row[name] or None for name in EMPTY_AS_NULL})
    # Race: a session withdrawn since its judgments were listed has no row
    return [rows[str(trial)] for trial in trials if str(trial) in rows]


MARKS = ("best", "worst")


def with_sentences(
    study: Experiment, judgments: Sequence[Judgment], rows: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of :func:`as_rows`, each with ``sentences``: those rated, chosen, or marked best and worst.

    Each has ``mark`` (best, worst, or a button's label), ``sentence_id``, ``item``, ``condition``, ``label``
    (item, condition, and the id unless it repeats them), ``text``, ``language`` and ``direction``. Sentences
    written in the study itself have no id.
    """
    shows = shown_task(study.task).shows
    marked = {
        str(judgment.trial_id): _shown_with_marks(judgment, study=study, shows=shows)
        for judgment in judgments
    }
    keys = {
        option["sentence_id"] for options in marked.values() for option in options if "sentence_id" in option
    }
    materials = _items_and_conditions(study, keys - {""})
    return [
        {**row, "sentences": [_sentence(option, materials) for option in marked[row["trial"]]]}
        for row in rows
    ]


def _shown_with_marks(judgment: Judgment, *, study: Experiment, shows: str) -> list[dict[str, Any]]:
    """Shown sentences and marks, from the record of the trial."""
    screen, response = judgment.trial.shown, judgment.response
    options = {option["id"]: option for option in screen.get("options", ())}
    shared = {CONTEXT: screen[CONTEXT]} if CONTEXT in screen else {}
    if shows == "set":
        return [
            {**shared, **options[option_id], "mark": mark}
            for mark, option_id in zip(MARKS, response.split(), strict=False)
            if option_id in options
        ]
    if shows == "pair":
        if response in options:
            return [{**shared, **options[response], "mark": ""}]
        if label := _button_label(study, response):
            item = judgment.trial.item
            return [{"mark": label, "text": "", "item": item.key if item else ""}]
        return [{"mark": "", **_describe_sentence(judgment.chosen)}] if judgment.chosen else []
    return [{**screen, "mark": ""}] if screen.get("text") else []


def _button_label(study: Experiment, response: str) -> str:
    """Label of the button for both or neither; empty for any other response."""
    name = f"{response}_label"
    defaults = {parameter.name: parameter.default for parameter in shown_task(study.task).parameters}
    return str(study.parameters.get(name) or defaults.get(name, ""))


def _describe_sentence(sentence: Sentence) -> dict[str, Any]:
    return {"sentence_id": sentence.key, "text": sentence.text, "language": sentence.language}


def _items_and_conditions(study: Experiment, keys: set[str]) -> dict[str, tuple[str, str]]:
    """Item and condition of sentences, by key."""
    sentences = Sentence.objects.filter(material_set=study.materials_id, key__in=keys)
    return {
        key: (item, condition)
        for key, item, condition in sentences.values_list("key", "item__key", "condition")
    }


def _sentence(option: dict[str, Any], materials: dict[str, tuple[str, str]]) -> dict[str, str]:
    language, sentence_id = option.get("language") or "", option.get("sentence_id", "")
    item, condition = materials.get(sentence_id, (option.get("item", ""), ""))
    stimulus = compose(option["text"], context=option.get(CONTEXT, ""), is_marked=bool(option.get("markup")))
    parts = [item, condition, "" if sentence_id in {item, f"{item}:{condition}"} else sentence_id]
    return {
        "mark": option["mark"],
        "sentence_id": sentence_id,
        "item": item,
        "condition": condition,
        "label": " · ".join(filter(None, parts)) if item else "",
        "text": stimulus.target.words,
        CONTEXT: stimulus.context.words if stimulus.context else "",
        "language": language,
        "direction": direction(language) if language else "auto",
    }
