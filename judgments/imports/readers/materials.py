"""Material set from the sentences of a judgment file."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

import pandas as pd

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from experiments.materials.checks import normalize_text
from experiments.materials.collection import Materials, Source, pair_frame, sentence_frame
from experiments.materials.factors import MOST_LEVELS, balanced_columns, factor_name, half_mapped
from experiments.materials.findings import Finding, list_rows
from experiments.materials.pairing import pair_conditions
from experiments.materials.schema import ACCEPTABLE, JOINT, UNACCEPTABLE, context_attribute, mapped_columns
from judgments.imports.readers.base import ATTRIBUTE, JudgmentFile

#: Kinds of trial whose sentences are materials; practice, catch and anchor trials keep theirs with the trial.
OF_MATERIALS = ("target", "filler")
MAX_NAMED, MAX_SPELLINGS = 5, 20
#: Which of the texts of one sentence is stored → its meaning, for the command and the page.
SPELLINGS = {"frequent": "Take the most frequent", "last": "Take the last"}
SIMILAR = 0.8  # share of characters that two spellings of one sentence have in common at least


def create_materials(read: JudgmentFile, *, spelling: str = "") -> tuple[JudgmentFile, Materials]:
    """Create materials from the sentences of a file, and add their ids to its judgments.

    ``spelling`` is a rule of :data:`SPELLINGS` for sentences whose spelling was corrected during the study;
    the judgments keep the text that was shown.

    Notes
    -----
    A sentence is identified by its text only where the file has no id, because two items may share a string.
    Without a ``sentence_id`` its id is the item, with the condition where the item has several. Pairs without
    a name are numbered within their paradigm by first appearance.
    """
    in_materials = read.judgments["kind"].isin(OF_MATERIALS)
    read = _with_expected_conditions(read, in_materials)
    trials = read.judgments if in_materials.all() else read.judgments[in_materials]
    is_of_pairs = read.task == "forced_choice"
    labelled = _named_pairs(trials, read.file) if is_of_pairs else _named_sentences(trials, read)
    findings: list[Finding] = []
    if spelling:
        name, texts = (
            ("pair_id", ("good_text", "bad_text")) if is_of_pairs else ("sentence_id", ("text", "context"))
        )
        labelled, findings = _with_one_spelling(labelled, name, texts, rule=spelling, file=read.file)
    if is_of_pairs:
        _refuse_two_wordings(labelled, read.file)
    else:
        labelled = _apart_by_text(labelled, read.file)
    names = {}
    for column in ("item", "pair_id", "good_id", "bad_id") if is_of_pairs else ("item", "sentence_id"):
        cells = read.judgments[column].to_numpy(dtype=object, copy=True)
        cells[in_materials.to_numpy()] = labelled[column].to_numpy(dtype=object)
        names[column] = pd.Series(cells, index=in_materials.index, dtype=object, copy=False)
    judgments = read.judgments.assign(**names)
    materials = _of_pairs(labelled, read) if is_of_pairs else _of_sentences(labelled, read)
    return replace(read, judgments=judgments), replace(materials, findings=(*materials.findings, *findings))


def _with_expected_conditions(read: JudgmentFile, in_materials: "pd.Series[bool]") -> JudgmentFile:
    """Tell the sentences of an item and condition with both expected statuses apart by the status."""
    if (read.judgments["expected"] == "").all():
        return read
    columns = ["phenomenon", "paradigm", "item", "condition", "expected"]
    trials = read.judgments.loc[in_materials & (read.judgments["item"] != ""), columns]
    cells = [trials[name] for name in ("phenomenon", "paradigm", "item", "condition")]
    n_statuses = trials["expected"].where(trials["expected"] != "").groupby(cells).transform("nunique")
    rated_pairs = trials[(n_statuses > 1) & (trials["expected"] != "")]
    if rated_pairs.empty or read.task == "forced_choice":
        return read
    stated = rated_pairs["condition"]
    joined = rated_pairs["expected"].where(stated == "", stated + ":" + rated_pairs["expected"])
    judgments = read.judgments.copy()
    judgments["condition"] = judgments["condition"].astype(object)
    judgments.loc[rated_pairs.index, "condition"] = joined
    note = "sentences of one item with different expected statuses are its conditions"
    return replace(read, judgments=judgments, notes=(*read.notes, note))


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
        pair = pair.where(~nameless, content.map(_number_pairs(trials[nameless])))
    return trials.assign(
        pair_id=pair,
        item=trials["item"].where(trials["item"] != "", pair),
        good_id=trials["good_id"].where(trials["good_id"] != "", pair + ":good"),
        bad_id=trials["bad_id"].where(trials["bad_id"] != "", pair + ":bad"),
    )


def _refuse_without_text(trials: pd.DataFrame, file: str) -> None:
    bare = trials[(trials["good_text"] == "") | (trials["bad_text"] == "")]
    if len(bare):
        raise BadInput(
            "a pair needs both members.",
            file=file,
            row=int(bare["row"].iloc[0]),
            remedy="Map good and bad to the columns of the two sentences, or give pair_id.",
        )


def _number_pairs(trials: pd.DataFrame) -> dict[str, str]:
    """Return ids of pairs: paradigm and a number by first appearance."""
    first = trials.drop_duplicates(["paradigm", "good_text", "bad_text"])
    number = first.groupby("paradigm", sort=False).cumcount() + 1
    names = first["paradigm"].where(first["paradigm"] != "", "pair") + ":" + number.astype(str)
    return dict(
        zip(first["paradigm"] + "\0" + first["good_text"] + "\0" + first["bad_text"], names, strict=True)
    )


def _refuse_two_wordings(pairs: pd.DataFrame, file: str) -> None:
    wordings = pairs.drop_duplicates(["pair_id", "paradigm", "good_text", "bad_text"])
    repeated = wordings[wordings["pair_id"].duplicated()]
    if len(repeated):
        raise BadInput(
            f"{plural(repeated['pair_id'].nunique(), 'pair')} of one pair_id (or item) and several wordings: "
            f"{_list_names(repeated['pair_id'])}; further wordings in {list_rows(repeated['row'])}.",
            file=file,
            row=int(repeated["row"].iloc[0]),
            remedy="Give each pair a pair_id of its own, or join columns: --map pair_id=phenomenon+item. "
            f"Or {_SPELLING_REMEDY}",
        )


def _refuse_two_contexts(trials: pd.DataFrame, name: str, *, file: str) -> None:
    contexts = trials.drop_duplicates([name, "context"])
    repeated = contexts[contexts[name].duplicated()]
    if len(repeated):
        raise BadInput(
            f"one {name} has several contexts: {_list_names(repeated[name])}; further contexts in "
            f"{list_rows(repeated['row'])}.",
            file=file,
            row=int(repeated["row"].iloc[0]),
            remedy="Map the column that tells them apart as a condition: --map condition=COLUMN.",
        )


def _of_pairs(trials: pd.DataFrame, read: JudgmentFile) -> Materials:
    _refuse_two_contexts(trials, "pair_id", file=read.file)
    pairs = trials.drop_duplicates("pair_id")
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
            attributes=[context_attribute(context) for context in pairs["context"]],
            file=[read.file] * len(pairs),
            row=columns["row"],
        )
        for side, expected in sides
    ]
    members = pd.concat(sentences, ignore_index=True).drop_duplicates("sentence_id")
    return Materials(
        "table",
        members,
        pair_frame(**columns, file=[read.file] * len(pairs)),
        _sources(read, trials),
        dict(read.mapping),
    )


def _named_sentences(trials: pd.DataFrame, read: JudgmentFile) -> pd.DataFrame:
    file = read.file
    stated_item = trials["item"].where(trials["item"] != "", trials["sentence_id"])
    item = stated_item
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
        stimuli = trials["context"] + "\0" + trials["text"]  # one sentence after two contexts is two stimuli
        numbers = {text: f"s{number}" for number, text in enumerate(stimuli[nameless].unique(), start=1)}
        item = item.where(~nameless, stimuli.map(numbers))
    item = _apart_by_group(trials, item)
    _ask_about_factors(trials, item.where(~nameless, ""), read)
    several = item.map(trials["condition"].groupby(item).nunique()) > 1
    labels = item.where(~several, item + ":" + trials["condition"])
    sentence = _apart_by_group(trials, trials["sentence_id"]).where(trials["sentence_id"] != "", labels)
    return trials.assign(stated_item=stated_item, item=item, sentence_id=sentence)


class OpenFactor(BadInput):
    """Which columns are factors is to be said; ``proposal`` is the condition that they would make."""

    def __init__(self, message: str, *, file: str, row: int, proposal: str, remedy: str = "") -> None:
        super().__init__(message, file=file, row=row, remedy=remedy)
        self.proposal = proposal
        self.columns = mapped_columns(proposal, [])


def _ask_about_factors(trials: pd.DataFrame, item: pd.Series, read: JudgmentFile) -> None:
    """Ask about columns that vary within items and conditions and are neither a factor nor stated as none."""
    mapped = mapped_columns(str(read.mapping.get("condition", "")), [])
    attributes = mapped_columns(str(read.mapping.get(ATTRIBUTE, "")), [])
    free = [name for name in read.extra if name not in {*mapped, *attributes}]
    is_open = (trials["kind"] == "target") & (trials["sentence_id"] == "") & (item != "")
    if not free or not is_open.any():
        return
    cells = trials[["condition", "text"]].assign(item=item)[is_open]
    if (cells["text"] == "").all():
        _ask_about_levels(trials.loc[cells.index].assign(item=item), free, mapped, read)
        return
    texts = cells.drop_duplicates()
    if texts.duplicated(["item", "condition"]).any():
        _ask_about_texts(trials.loc[cells.index].assign(item=item), texts.index, free, mapped, read.file)


def _ask_about_texts(
    trials: pd.DataFrame, first: pd.Index, free: list[str], mapped: list[str], file: str
) -> None:
    """Ask where texts of one item and condition differ, and columns of the file tell them apart."""
    columns = [f"extra:{name}" for name in free]
    by_text = trials[columns].groupby([trials[name] for name in ("item", "condition", "text")], sort=False)
    n_values = by_text.nunique().max()
    of_texts = [name for name in free if n_values[f"extra:{name}"] == 1]
    texts = trials.loc[first]
    cells = texts[[f"extra:{name}" for name in of_texts]].set_axis(of_texts, axis=1)
    attributes = pd.Series(cells.to_dict("records"), index=texts.index, dtype=object)
    sentences = texts.assign(is_filler=False, file=file, attributes=attributes)
    for finding in half_mapped(sentences, condition=mapped, expected="", attributes=[], has_items=True):
        proposal = JOINT.join([*mapped, *finding.ids])
        raise OpenFactor(finding.message, file=file, row=finding.row or 0, proposal=proposal)


def _ask_about_levels(trials: pd.DataFrame, free: list[str], mapped: list[str], read: JudgmentFile) -> None:
    """Ask about columns of a file without texts that look like factors: they vary evenly within items."""
    people = trials["session"].map(read.sessions.set_index("session")["participant"])
    cells = trials[[f"extra:{name}" for name in free]].set_axis(free, axis=1)
    names = balanced_columns(
        cells, trials["item"] + "\0" + trials["condition"], people=people, values=trials["value"]
    )
    if names:
        listed, proposal = ", ".join(map(repr, names)), JOINT.join([*mapped, *names])
        verb = "varies" if len(names) == 1 else "vary"
        raise OpenFactor(
            f"{listed} {verb} within items, and the file has no sentences: "
            "judgments of different conditions would be those of one sentence.",
            file=read.file,
            row=int(trials["row"].iloc[0]),
            proposal=proposal,
            remedy=f"Map condition={proposal}, or state with attribute={JOINT.join(names)} that this is no "
            "factor.",
        )


def _apart_by_group(trials: pd.DataFrame, item: pd.Series) -> pd.Series:
    """Put the paradigm or phenomenon before items that occur under several: these are different sentences."""
    for column in ("paradigm", "phenomenon"):
        group = trials[column]
        if (group == "").all():
            continue
        several = item.map(group[group != ""].groupby(item).nunique()) > 1
        item = item.where(~several | (group == ""), group + ":" + item)
    return item


_SPELLING_REMEDY = "--spelling frequent, or last, where only a spelling was corrected."


def _with_one_spelling(
    trials: pd.DataFrame, name: str, columns: Sequence[str], *, rule: str, file: str
) -> tuple[pd.DataFrame, list[Finding]]:
    """Give the trials of a sentence (or pair) one of its similar texts, and name what was replaced.

    ``frequent`` takes the text of most rows, of equally frequent ones the last.
    """
    if rule not in SPELLINGS:
        raise UnknownName("rule for spellings", rule, list(SPELLINGS))
    ids, rows, messages = [], [], []
    for column in columns:
        texts = trials[["row"]].assign(stimulus=trials[name], text=trials[column])
        texts["wording"] = _normalize(texts["text"])
        taken = {}
        for chosen, other in _spellings(texts[texts["wording"] != ""], rule):
            taken[other.stimulus, other.wording] = chosen.text
            ids.append(other.stimulus)
            rows.append(other.row)
            messages.append(
                f"{chosen.wording!r} ({plural(chosen.n, 'row')}) in place of {other.wording!r} "
                f"({plural(other.n, 'row')})"
            )
        keys = zip(texts["stimulus"], texts["wording"], strict=True)
        replaced = [taken.get(key, text) for key, text in zip(keys, texts["text"], strict=True)]
        trials = trials.assign(**{column: replaced})
    if not ids:
        return trials, []
    more = f" and {len(ids) - MAX_SPELLINGS} more" if len(ids) > MAX_SPELLINGS else ""
    message = (
        f"of several spellings one is stored ({list_rows(rows)}): "
        f"{'; '.join(messages[:MAX_SPELLINGS])}{more}. Judgments keep the text that was shown."
    )
    return trials, [Finding("warning", "spelling", message, file, ids=tuple(dict.fromkeys(ids)))]


def _spellings(rows: pd.DataFrame, rule: str) -> Iterator[tuple[Any, Any]]:
    """Yield the text that is chosen of a sentence with several, and each other one that resembles it."""
    wordings = rows.groupby(["stimulus", "wording"], sort=False).agg(
        text=("text", "first"), n=("row", "size"), row=("row", "first"), last=("row", "last")
    )
    wordings = wordings.sort_values(["n", "last"] if rule == "frequent" else "last").reset_index()
    for _, texts in wordings[wordings["stimulus"].duplicated(keep=False)].groupby("stimulus", sort=False):
        *others, chosen = texts.itertuples(index=False)
        for other in others:
            if SequenceMatcher(None, str(other.wording), str(chosen.wording)).ratio() >= SIMILAR:
                yield chosen, other


def _normalize(texts: "pd.Series[str]") -> "pd.Series[str]":
    return texts.map({text: normalize_text(text).strip() for text in texts.unique()})


def _apart_by_text(trials: pd.DataFrame, file: str) -> pd.DataFrame:
    """Number the texts of a sentence with several, as items of their own; refuse where items have conditions.

    With several conditions nothing says which texts belong together.
    """
    text = _normalize(trials["text"])
    has_text = text != ""
    wordings = pd.DataFrame({"sentence": trials["sentence_id"], "text": text})[has_text].drop_duplicates()
    number = wordings.groupby("sentence", sort=False).cumcount() + 1
    if (number <= 1).all():
        return trials
    ambiguous = wordings[number > 1]
    is_ambiguous = trials["sentence_id"].isin(ambiguous["sentence"])
    n_sentences = trials["sentence_id"].groupby(trials["item"]).nunique()
    in_conditions = is_ambiguous & (trials["item"].map(n_sentences) > 1)
    if in_conditions.any():
        names = trials.loc[in_conditions, "sentence_id"]
        two = [f"{text[:60]!r}" for text in wordings.loc[wordings["sentence"] == names.iloc[0], "text"][:2]]
        raise BadInput(
            f"{plural(names.nunique(), 'sentence')} of one item and condition, or of one id, and different "
            f"texts: {_list_names(names)}; they are in {list_rows(trials.loc[in_conditions, 'row'])}.",
            file=file,
            row=int(trials.loc[in_conditions, "row"].iloc[0]),
            remedy=f"If {' and '.join(two)} are one sentence: {_SPELLING_REMEDY} Else map what tells "
            "them apart: --map item=phenomenon+item, or sentence_id.",
        )
    numbers = dict(zip(wordings["sentence"] + "\0" + wordings["text"], number.astype(str), strict=True))
    suffix = (trials["sentence_id"] + "\0" + text).map(numbers).fillna("1")
    told_apart = suffix != "1"
    return trials.assign(
        sentence_id=trials["sentence_id"].where(~told_apart, trials["sentence_id"] + "#" + suffix),
        item=trials["item"].where(~told_apart, trials["item"] + "#" + suffix),
    )


def _list_names(names: "pd.Series[str]") -> str:
    """List the first of some names."""
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - MAX_NAMED} more" if len(unique) > MAX_NAMED else ""
    return f"{', '.join(repr(name) for name in unique[:MAX_NAMED])}{more}"


def _of_sentences(trials: pd.DataFrame, read: JudgmentFile) -> Materials:
    _refuse_two_contexts(trials, "sentence_id", file=read.file)
    first = trials.drop_duplicates("sentence_id")
    columns = ("sentence_id", "item", "condition", "paradigm", "phenomenon", "text", "expected", "row")
    cells, factors = _factors(first, read)
    fillers = (first["kind"] == "filler") & bool(factors)
    sentences = sentence_frame(
        **{name: first[name].tolist() for name in columns},
        factors=cells,
        attributes=[context_attribute(context) for context in first["context"]],
        is_filler=fillers.tolist(),
        file=[read.file] * len(first),
    )
    return Materials(
        "table",
        sentences,
        pair_conditions(sentences),
        _sources(read, trials),
        dict(read.mapping),
        findings=tuple(_findings(trials, first, read.file)),
        factors=factors,
    )


def _factors(
    sentences: pd.DataFrame, read: JudgmentFile
) -> tuple[list[dict[str, str]], dict[str, tuple[str, ...]]]:
    """Return the level of each factor by sentence and the factors; none unless columns are joined.

    Fillers, and sentences without a level, have none.
    """
    nothing: list[dict[str, str]] = [{} for _ in range(len(sentences))]
    parts = mapped_columns(str(read.mapping.get("condition", "")), [])
    names = [f"extra:{part}" for part in parts]
    if len(parts) < 2 or not set(names) <= set(sentences.columns):
        return nothing, {}
    cells = sentences[names].astype(str).set_axis(parts, axis=1)
    has_levels = (cells != "").all(axis=1) & (sentences["kind"] != "filler")
    is_bad = has_levels & (sentences["expected"] == UNACCEPTABLE)
    levels = _marked_last(cells[has_levels], cells[is_bad])
    if not all(2 <= len(values) <= MOST_LEVELS for values in levels.values()):
        return nothing, {}
    rows = [
        dict(zip(map(factor_name, parts), map(str, row), strict=True)) if complete else {}
        for row, complete in zip(cells.to_numpy().tolist(), has_levels, strict=True)
    ]
    return rows, {factor_name(part): values for part, values in levels.items()}


def _marked_last(cells: pd.DataFrame, bad: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the levels of each factor in order of appearance; of a 2×2 design the marked level last.

    The marked levels are those of the one condition that is expected to be unacceptable: they give the
    difference of differences its sign.
    """
    levels = {str(part): tuple(dict.fromkeys(cells[part])) for part in cells.columns}
    marked = bad.drop_duplicates()
    if [len(names) for names in levels.values()] != [2, 2] or len(marked) != 1:
        return levels
    last = marked.iloc[0]
    return {part: tuple(sorted(names, key=lambda name: name == last[part])) for part, names in levels.items()}


def _findings(trials: pd.DataFrame, first: pd.DataFrame, file: str) -> list[Finding]:
    findings = []
    bare = first[first["text"] == ""]
    if len(bare):
        findings.append(Finding("note", "no_text", f"{len(bare)} sentences have no text in this file.", file))
    for item, rows in _apart(trials).groupby("stated_item", sort=False):
        names = ", ".join(repr(name) for name in rows["item"])
        message = (
            f"item {item!r} stands for different sentences of one condition, or for several paradigms: "
            f"they are told apart as {names}. If their texts are spellings of one sentence: "
            "--spelling frequent, or last."
        )
        ids = tuple(rows["item"])
        findings.append(Finding("warning", "told_apart", message, file, int(rows["row"].iloc[0]), ids))
    return findings


def _apart(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the items that were told apart: one row for each, with the item that the file states."""
    items = trials.loc[trials["stated_item"] != "", ["stated_item", "item", "row"]]
    items = items.drop_duplicates(["stated_item", "item"])
    is_renamed = (items["item"] != items["stated_item"]).groupby(items["stated_item"]).transform("any")
    return items[is_renamed]


def _sources(read: JudgmentFile, trials: pd.DataFrame) -> tuple[Source, ...]:
    return (Source(read.file, read.description, len(trials), tuple(read.mapping.values())),)
