"""LI-Adger: a table of sentences, a table of minimal pairs and mean human judgments, read together."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.collection import Materials, pair_frame, require_unique, sentence_frame
from experiments.materials.encoding import Encoding
from experiments.materials.findings import Finding
from experiments.materials.pairing import joined_groups
from experiments.materials.readers.sheets import Sheet, read_sheet
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE

PAIR_COLUMNS = ("gramm_id", "ungramm_id", "discard")
HUMAN_COLUMNS = ("id", "sentence", "judgement")
SENTENCE_COLUMNS = ("id", "sentence", "dataset")


def read_li_adger(paths: Sequence[Path], *, encoding: Encoding = "") -> Materials:
    """Read the LI-Adger files, in any order.

    Notes
    -----
    A sentence's condition is its id without the number at its end, its mark the status in its id.
    Conditions that pairs join are one paradigm; sentences that pairs join are one item. A pair with
    ``X`` in ``discard`` is marked as discarded. The human mean is the sentence's attribute ``judgement``.

    Ids have the form volume.issue.author.example.status.number (or chapter.example.status.number); the
    status ``g`` is acceptable, ``*``, ``?``, ``??``, ``?*`` and ``??(*)`` are unacceptable.

    References
    ----------
    Sprouse, Schütze & Almeida (2013), Lingua 134; Sprouse & Almeida (2012), Journal of Linguistics 48.
    """
    sheets = [read_sheet(path, encoding=encoding) for path in paths]
    pairs = _sheet_with(sheets, PAIR_COLUMNS)
    human = _sheet_with(sheets, HUMAN_COLUMNS)
    listed = _sheet_with([sheet for sheet in sheets if sheet is not human], SENTENCE_COLUMNS) or human
    if pairs is None or listed is None:
        absent = "pairs (gramm_id, ungramm_id)" if pairs is None else "sentences (id, sentence)"
        raise BadInput(
            f"LI-Adger needs its table of {absent}.",
            file=sheets[0].file,
            remedy="Give the sentences and the pairs in one import.",
        )
    _require_known(pairs, set(listed.frame["id"]))
    sentences = _sentences(listed, pairs.frame)
    findings = _differing_texts(pairs, sentences)
    if human is not None:
        sentences, unrated = _with_judgments(sentences, human)
        findings += unrated
    sources = tuple(sheet.source for sheet in sheets)
    return Materials("li-adger", sentences, _pairs(pairs, sentences), sources, findings=tuple(findings))


def _sheet_with(sheets: Sequence[Sheet], columns: Sequence[str]) -> Sheet | None:
    return next((sheet for sheet in sheets if set(columns) <= set(sheet.frame.columns)), None)


def _require_known(pairs: Sheet, sentence_ids: set[str]) -> None:
    for column in ("gramm_id", "ungramm_id"):
        absent = ~pairs.frame[column].isin(sentence_ids)
        if absent.any():
            row = pairs.frame.index[absent][0]
            name = pairs.frame.loc[row, column]
            message = f"there is no sentence {name!r}." if name else "the pair has only one sentence."
            raise BadInput(message, file=pairs.file, row=int(row), column=column)


def _sentences(sheet: Sheet, pairs: pd.DataFrame) -> pd.DataFrame:
    ids = sheet.frame["id"].tolist()
    conditions = [name.rsplit(".", 1)[0] for name in ids]
    statuses = [condition.rsplit(".", 1)[-1] for condition in conditions]
    links = list(zip(pairs["gramm_id"], pairs["ungramm_id"], strict=True))
    items = joined_groups(ids, links)
    contrast = joined_groups(conditions, [(a.rsplit(".", 1)[0], b.rsplit(".", 1)[0]) for a, b in links])
    members: dict[str, list[str]] = {}
    for condition, first in contrast.items():
        members.setdefault(first, []).append(condition)
    extra_columns = [name for name in sheet.frame.columns if name not in ("id", "sentence", "judgement")]
    extras = sheet.frame[extra_columns].to_dict("records")
    frame = sentence_frame(
        sentence_id=ids,
        item=[items[name] for name in ids],
        condition=conditions,
        paradigm=[" | ".join(members[contrast[condition]]) for condition in conditions],
        text=sheet.frame["sentence"].tolist(),
        expected=[ACCEPTABLE if status == "g" else UNACCEPTABLE for status in statuses],
        mark=["" if status == "g" else status for status in statuses],
        attributes=[{str(name): value for name, value in row.items() if value != ""} for row in extras],
        file=[sheet.file] * len(ids),
        row=sheet.frame.index.tolist(),
    )
    require_unique(frame, "sentence_id")
    return frame


def _with_judgments(sentences: pd.DataFrame, human: Sheet) -> tuple[pd.DataFrame, list[Finding]]:
    values = pd.to_numeric(human.frame["judgement"].replace({"#N/A": "", "NA": ""}), errors="coerce")
    text = human.frame["judgement"]
    invalid = values.isna() & ~text.isin(["", "#N/A", "NA"])
    if invalid.any():
        row = human.frame.index[invalid][0]
        raise BadInput(f"{text[row]!r} is not a number.", file=human.file, row=int(row), column="judgement")
    means = dict(zip(human.frame["id"], values, strict=True))
    unrated = [name for name in sentences["sentence_id"] if pd.isna(means.get(name, float("nan")))]
    missing = set(unrated)
    attributes = [
        extras if name in missing else {**extras, "judgement": float(means[name])}
        for name, extras in zip(sentences["sentence_id"], sentences["attributes"], strict=True)
    ]
    findings = []
    if unrated:
        message = f"{len(unrated)} sentences have no human judgment: {', '.join(unrated[:5])}."
        findings.append(Finding("note", "unrated", message, file=human.file, ids=tuple(unrated)))
    return sentences.assign(attributes=pd.Series(attributes, index=sentences.index, dtype=object)), findings


def _differing_texts(pairs: Sheet, sentences: pd.DataFrame) -> list[Finding]:
    texts = dict(zip(sentences["sentence_id"], sentences["text"], strict=True))
    findings = []
    for member in ("gramm", "ungramm"):
        if f"{member}_sentence" not in pairs.frame:
            raise MissingColumns(
                [f"{member}_sentence"], existing=[str(name) for name in pairs.frame.columns], file=pairs.file
            )
        columns = pairs.frame[f"{member}_id"], pairs.frame[f"{member}_sentence"]
        for row, name, text in zip(pairs.frame.index, *columns, strict=True):
            if texts[name] != text:
                message = f"{name} reads {text!r} here, but {texts[name]!r} in the table of sentences."
                findings.append(Finding("warning", "text_differs", message, pairs.file, int(row), (name,)))
    return findings


def _pairs(sheet: Sheet, sentences: pd.DataFrame) -> pd.DataFrame:
    frame = sheet.frame
    by_id = sentences.set_index("sentence_id")
    ids = zip(frame["gramm_id"], frame["ungramm_id"], strict=True)
    discard = [mark.strip().upper() == "X" for mark in frame["discard"]]
    phenomena = frame["phenomenon"].tolist() if "phenomenon" in frame else [""] * len(frame)
    pairs = pair_frame(
        pair_id=[f"{good}|{bad}" for good, bad in ids],
        item=frame["gramm_id"].map(by_id["item"]).tolist(),
        paradigm=frame["gramm_id"].map(by_id["paradigm"]).tolist(),
        phenomenon=phenomena,
        good_id=frame["gramm_id"].tolist(),
        bad_id=frame["ungramm_id"].tolist(),
        fields=frame.to_dict("records"),
        discard=discard,
        discard_reason=["marked X in its file" if marked else "" for marked in discard],
        file=[sheet.file] * len(frame),
        row=frame.index.tolist(),
    )
    require_unique(pairs, "pair_id")
    return pairs
