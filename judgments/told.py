"""The answers of a study in words: the sentences that were rated, chosen, or marked as best and worst."""

from collections.abc import Sequence
from typing import Any

from experiments.materials.markup import plain
from experiments.models import Experiment, Sentence
from judgments.models import Judgment
from judgments.screens.page import direction
from judgments.tasks.registry import shown_task

MARKS = ("best", "worst")


def told_rows(study: Experiment, judgments: Sequence[Judgment], rows: Sequence[dict[str, Any]]) -> list[Any]:
    """The rows of :func:`judgments.observed.as_rows`, each with ``told``: what was said about which sentence.

    Each part has ``mark`` (best, worst, chosen, or a button's words), ``sentence_id``, ``item``,
    ``condition``, ``beside`` (these, with the id where it tells more), ``text``, ``language`` and
    ``direction``; ids and texts of sentences written in the study itself are what they are: no id.
    """
    shows = shown_task(study.task).shows
    options = [_marked(judgment, study=study, shows=shows) for judgment in judgments]
    keys = {one["sentence_id"] for parts in options for one in parts if one.get("sentence_id")}
    known = _known(study, keys)
    return [
        {**row, "told": [_part(one, known) for one in parts]}
        for row, parts in zip(rows, options, strict=True)
    ]


def _marked(judgment: Judgment, *, study: Experiment, shows: str) -> list[dict[str, Any]]:
    """What was shown and marked, as the trial keeps it."""
    shown, response = judgment.trial.shown, judgment.response
    by_id = {one["id"]: one for one in shown.get("options", ())}
    if shows == "set":
        return [
            {**by_id[one], "mark": mark}
            for mark, one in zip(MARKS, response.split(), strict=False)
            if one in by_id
        ]
    if shows == "pair":
        if response in by_id:
            return [{**by_id[response], "mark": ""}]
        if label := study.parameters.get(f"{response}_label") or _usual(study, f"{response}_label"):
            item = judgment.trial.item
            return [{"mark": label, "text": "", "item": item.key if item else ""}]
        return [{"mark": "", **_of(judgment.chosen)}] if judgment.chosen else []
    return [{**shown, "mark": ""}] if shown.get("text") else []


def _usual(study: Experiment, name: str) -> str:
    return next((str(one.default) for one in shown_task(study.task).parameters if one.name == name), "")


def _of(sentence: Sentence) -> dict[str, Any]:
    return {"sentence_id": sentence.key, "text": sentence.text, "language": sentence.language}


def _known(study: Experiment, keys: set[str]) -> dict[str, tuple[str, str]]:
    """Item and condition of sentences, by key."""
    rows = Sentence.objects.filter(material_set=study.materials_id, key__in=keys)
    return {
        key: (item, condition) for key, item, condition in rows.values_list("key", "item__key", "condition")
    }


def _part(one: dict[str, Any], known: dict[str, tuple[str, str]]) -> dict[str, str]:
    item, condition = known.get(one.get("sentence_id", ""), (one.get("item", ""), ""))
    language, sentence_id = one.get("language") or "", one.get("sentence_id", "")
    beside = [item, condition, "" if sentence_id in {item, f"{item}:{condition}"} else sentence_id]
    return {
        "mark": one["mark"],
        "sentence_id": sentence_id,
        "item": item,
        "condition": condition,
        "beside": " · ".join(filter(None, beside)) if item else "",
        "text": plain(one["text"]) if one.get("markup") else one["text"],
        "language": language,
        "direction": direction(language) if language else "auto",
    }
