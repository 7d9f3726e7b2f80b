"""The sentences a file of judgments shows, as a material set of its own."""

from dataclasses import replace

import pandas as pd

from analysis.errors import BadInput
from experiments.materials.collection import Materials, Source, pair_frame, sentence_frame
from experiments.materials.pairing import pair_conditions
from experiments.materials.report import Finding
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE
from judgments.sources.base import JudgmentFile

#: Kinds of trial whose sentences are materials; practice, catch and anchor trials keep theirs with the trial.
OF_MATERIALS = ("target", "filler")


def materials_of(read: JudgmentFile) -> tuple[JudgmentFile, Materials]:
    """Make a material set from the sentences of a file, and name them in its judgments.

    Parameters
    ----------
    read : JudgmentFile

    Returns
    -------
    tuple of (JudgmentFile, Materials)
        The file with ``item``, ``sentence_id`` and, in forced choice, ``pair_id``, ``good_id`` and
        ``bad_id`` filled.

    Raises
    ------
    BadInput
        If a forced choice does not say which member is expected, or its members are missing or alike.

    Notes
    -----
    A sentence is never known by its text where the file names it otherwise: two items may share a string.
    Without
    a ``sentence_id`` it is the item, with the condition where the item is seen in several. Pairs without
    a name are
    numbered in their paradigm by first appearance.
    """
    shown = read.judgments["kind"].isin(OF_MATERIALS)
    trials = read.judgments[shown]
    named = (
        _named_pairs(trials, read.file)
        if read.task == "forced_choice"
        else _named_sentences(trials, read.file)
    )
    judgments = read.judgments.copy()
    for column in ("item", "sentence_id", "pair_id", "good_id", "bad_id"):
        judgments[column] = judgments[column].astype(object)
        judgments.loc[shown, column] = named[column].to_numpy(dtype=object)
    materials = _of_pairs(named, read) if read.task == "forced_choice" else _of_sentences(named, read)
    return replace(read, judgments=judgments), materials


def _named_pairs(trials: pd.DataFrame, file: str) -> pd.DataFrame:
    unlabelled = trials[~trials["labelled"].astype(bool)]
    if len(unlabelled):
        raise BadInput(
            "the file does not say which member of the pair is expected.",
            file=file,
            row=int(unlabelled["row"].iloc[0]),
            remedy="Give --materials with the labelled pairs, or conditions that end in ans1 or ans2.",
        )
    pair = trials["pair_id"].where(trials["pair_id"] != "", trials["item"])
    content = trials["paradigm"] + "\0" + trials["good_text"] + "\0" + trials["bad_text"]
    nameless = pair == ""
    if nameless.any():
        _refuse_without_text(trials[nameless], file)
        pair = pair.where(~nameless, content.map(_numbered(trials[nameless])))
    named = trials.assign(
        pair_id=pair,
        item=trials["item"].where(trials["item"] != "", pair),
        good_id=trials["good_id"].where(trials["good_id"] != "", pair + ":good"),
        bad_id=trials["bad_id"].where(trials["bad_id"] != "", pair + ":bad"),
    )
    _refuse_two_wordings(named.assign(content=content), file)
    _refuse_identical(named, file)
    return named


def _refuse_without_text(trials: pd.DataFrame, file: str) -> None:
    bare = trials[(trials["good_text"] == "") | (trials["bad_text"] == "")]
    if len(bare):
        raise BadInput(
            "a pair needs both members.",
            file=file,
            row=int(bare["row"].iloc[0]),
            remedy="Map good and bad to the columns of the two sentences, or give pair_id.",
        )


def _numbered(trials: pd.DataFrame) -> dict[str, str]:
    """Name pairs by their paradigm and a number, counted by first appearance."""
    first = trials.drop_duplicates(["paradigm", "good_text", "bad_text"])
    number = first.groupby("paradigm", sort=False).cumcount() + 1
    names = first["paradigm"].where(first["paradigm"] != "", "pair") + ":" + number.astype(str)
    return dict(
        zip(first["paradigm"] + "\0" + first["good_text"] + "\0" + first["bad_text"], names, strict=True)
    )


def _refuse_two_wordings(named: pd.DataFrame, file: str) -> None:
    wordings = named.drop_duplicates(["pair_id", "content"])
    again = wordings[wordings["pair_id"].duplicated()]
    if len(again):
        raise BadInput(
            f"pair {again['pair_id'].iloc[0]!r} has two wordings.",
            file=file,
            row=int(again["row"].iloc[0]),
            remedy="Give each pair a pair_id of its own.",
        )


def _refuse_identical(named: pd.DataFrame, file: str) -> None:
    alike = named[(named["good_text"] != "") & (named["good_text"] == named["bad_text"])]
    if len(alike):
        raise BadInput(
            f"both members of pair {alike['pair_id'].iloc[0]!r} are identical.",
            file=file,
            row=int(alike["row"].iloc[0]),
            remedy="Correct one of them.",
        )


def _of_pairs(named: pd.DataFrame, read: JudgmentFile) -> Materials:
    pairs = named.drop_duplicates("pair_id")
    columns = {
        name: pairs[name].tolist()
        for name in ("pair_id", "item", "paradigm", "phenomenon", "good_id", "bad_id", "row")
    }
    sides = (("good", ACCEPTABLE), ("bad", UNACCEPTABLE))
    sentences = [
        sentence_frame(
            sentence_id=pairs[f"{side}_id"].tolist(),
            item=columns["item"],
            condition=[side] * len(pairs),
            paradigm=columns["paradigm"],
            phenomenon=columns["phenomenon"],
            text=pairs[f"{side}_text"].tolist(),
            expected=[expected] * len(pairs),
            file=[read.file] * len(pairs),
            row=columns["row"],
        )
        for side, expected in sides
    ]
    both = pd.concat(sentences, ignore_index=True).drop_duplicates("sentence_id")
    return Materials(
        "table",
        both,
        pair_frame(**columns, file=[read.file] * len(pairs)),
        _sources(read, named),
        dict(read.mapping),
    )


def _named_sentences(trials: pd.DataFrame, file: str) -> pd.DataFrame:
    item = trials["item"].where(trials["item"] != "", trials["sentence_id"])
    nameless = item == ""
    unclear = trials[nameless & (trials["text"] == "")]
    if len(unclear):
        raise BadInput(
            "the row does not say which sentence was judged.",
            file=file,
            row=int(unclear["row"].iloc[0]),
            remedy="Fill item, sentence_id or sentence in every row.",
        )
    if nameless.any():
        texts = trials.loc[nameless, "text"]
        numbers = {text: f"s{number}" for number, text in enumerate(texts.unique(), start=1)}
        item = item.where(~nameless, trials["text"].map(numbers))
    several = item.map(trials["condition"].groupby(item).nunique()) > 1
    told_apart = item.where(~several, item + ":" + trials["condition"])
    sentence = trials["sentence_id"].where(trials["sentence_id"] != "", told_apart)
    return trials.assign(item=item, sentence_id=sentence)


def _of_sentences(named: pd.DataFrame, read: JudgmentFile) -> Materials:
    first = named.drop_duplicates("sentence_id")
    columns = ("sentence_id", "item", "condition", "paradigm", "phenomenon", "text", "expected", "row")
    sentences = sentence_frame(
        **{name: first[name].tolist() for name in columns}, file=[read.file] * len(first)
    )
    return Materials(
        "table",
        sentences,
        pair_conditions(sentences),
        _sources(read, named),
        dict(read.mapping),
        findings=tuple(_findings(named, first, read.file)),
    )


def _findings(named: pd.DataFrame, first: pd.DataFrame, file: str) -> list[Finding]:
    findings = []
    bare = first[first["text"] == ""]
    if len(bare):
        findings.append(Finding("note", "no_text", f"{len(bare)} sentences have no text in this file.", file))
    wordings = named.drop_duplicates(["sentence_id", "text"])
    again = wordings[wordings["sentence_id"].duplicated()]
    for sentence, text, row in zip(again["sentence_id"], again["text"], again["row"], strict=True):
        message = f"sentence {sentence!r} was also shown as {text!r}; the first wording is stored."
        findings.append(Finding("warning", "two_wordings", message, file, int(row), (sentence,)))
    return findings


def _sources(read: JudgmentFile, named: pd.DataFrame) -> tuple[Source, ...]:
    return (Source(read.file, read.description, len(named), tuple(read.mapping.values())),)
