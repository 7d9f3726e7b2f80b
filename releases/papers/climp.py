"""Xiang et al. (2021), "CLiMP": tables 1 and 2, figure 1, validation, and agreement beside BLiMP's."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement.report import agreement_report
from analysis.comparison.breakdowns.accuracy_tables import OVERALL, latex_table, phenomenon_table
from analysis.comparison.breakdowns.vocabulary import coverage, joint_agreement, vocabulary_frequencies
from analysis.comparison.in_depth.matrices import paradigm_accuracies
from analysis.comparison.pairs import pair_table
from analysis.errors import MissingColumns
from analysis.figures.charts.models.breakdowns import group_figure, histogram_figure
from analysis.files import read_table
from analysis.scoring.words.tokens import Tokenization
from experiments.materials.readers.detect import read_materials
from releases.papers import blimp
from releases.papers.exhibits import Exhibit, Value
from releases.papers.holdings import Holdings, add_weights, named_scores, ngram_model

N_EXHIBITS = 5
PEOPLE, BERT = "people", "Chinese BERT"
PHENOMENA = {
    "classifier": "classifier",
    "verb_complement": "verb complement",
    "head_final": "NP head finality",
    "ba_construction": "ba construction",
    "coverb": "coverb",
    "anaphor_agreement": "anaphor agreement",
    "passive": "passive",
    "binding": "binding",
    "filler_gap": "filler-gap",
}
"""Phenomenon by the beginning of the names of its paradigms, in the order of table 2."""
MODELS = (
    BERT,
    *(f"LSTM-{size}-{unit}" for size in ("21.5M", "2M", "0.4M") for unit in ("word", "char")),
    *(f"5-gram-{size}-{unit}" for size in ("2M", "0.4M") for unit in ("word", "char")),
)
WEIGHTS = {BERT: ("models/bert-base-chinese", "hf-masked:{}?method=pll")}
TEST_SHARE = 0.2
"""Share of each paradigm's pairs that stand-ins are tested on; they are trained on the others."""
STAND_IN = (
    "a stand-in, trained on the acceptable sentences of {trained:,} of CLiMP's own pairs and tested on the "
    "other {tested:,}"
)
BRING_PAIRS = "climp/*.csv: the pairs, a file for each paradigm."
BRING_MODELS = (
    "scores/climp/*.csv (sentence_id as manage.py score --materials gives for climp/*.csv, columns named as "
    "the rows of table 2), or the weights of Chinese BERT as models/bert-base-chinese."
)
BRING_PEOPLE = (
    "climp-people/judgments.csv: participant, paradigm, item, value (1 where the acceptable sentence was "
    "chosen, else 0), round (1 or 2)."
)
BRING_WORDS = (
    "climp-words/vocabulary.txt (a word each line) and climp-words/internet-zh.num (rank, frequency, word)."
)


@dataclass(frozen=True)
class CLiMP:
    """What is at hand: pairs, scores, people's judgments."""

    pairs: pd.DataFrame
    scores: pd.DataFrame
    stand_ins: dict[str, str]
    people: pd.DataFrame | None

    @cached_property
    def phenomena(self) -> dict[str, str]:
        """Phenomenon of each paradigm."""
        names = set() if self.pairs.empty else set(self.pairs["paradigm"])
        names |= set() if self.people is None else set(self.people["paradigm"].astype(str))
        order = list(PHENOMENA)
        starts = {name: start for name in names for start in order if name.startswith(start)}
        return {
            name: PHENOMENA[starts[name]]
            for name in sorted(starts, key=lambda name: order.index(starts[name]))
        }

    def report(self, round_number: int) -> dict[str, Any] | None:
        """People's agreement in one round; None without judgments of it."""
        if self.people is None:
            return None
        rows = self.people[pd.to_numeric(self.people["round"]) == round_number]
        if rows.empty:
            return None
        rows = rows.assign(task="forced_choice", value=pd.to_numeric(rows["value"])).reset_index(drop=True)
        return agreement_report(rows, rule="climp", draws=0)


def read_climp(holdings: Holdings) -> CLiMP:
    """Read the pairs and what has scores."""
    files = holdings.matching("climp/*.csv")
    people = _people(holdings)
    if not files:
        return CLiMP(pd.DataFrame(), pd.DataFrame(), {}, people)
    materials = read_materials(files, format="climp")
    pairs = materials.pairs[["pair_id", "good_id", "bad_id", "paradigm"]]
    sentences = materials.sentences[["sentence_id", "text"]].rename(columns={"text": "sentence"})
    scores = sentences[["sentence_id"]]
    brought = holdings.scores("climp")
    if brought is not None:
        scores = scores.merge(brought, on="sentence_id", how="left")
    scores = add_weights(holdings, scores, sentences, WEIGHTS)
    stand_ins: dict[str, str] = {}
    place = pairs.groupby("paradigm").cumcount()
    is_tested = place >= pairs.groupby("paradigm")["pair_id"].transform("size") * (1 - TEST_SHARE)
    texts = sentences.set_index("sentence_id")["sentence"]
    barred = set(texts[pairs.loc[is_tested, ["good_id", "bad_id"]].to_numpy().ravel()])
    lines = [line for line in dict.fromkeys(texts[pairs.loc[~is_tested, "good_id"]]) if line not in barred]
    tested = sentences[
        sentences["sentence_id"].isin(pairs.loc[is_tested, ["good_id", "bad_id"]].to_numpy().ravel())
    ]
    for unit, tokens in (("char", "chars"), ("word", "jieba")):
        name = f"5-gram-0.4M-{unit}"
        if name in scores.columns or not lines or (tokens == "jieba" and find_spec("jieba") is None):
            continue
        cut = Tokenization(tokens)
        with ngram_model(lines, order=5, tokenization=cut) as model:
            scores = scores.merge(named_scores(model, tested, {"lp": name}), on="sentence_id", how="left")
        stand_ins[name] = STAND_IN.format(trained=int((~is_tested).sum()), tested=int(is_tested.sum()))
    return CLiMP(pairs, scores, stand_ins, people)


def _people(holdings: Holdings) -> pd.DataFrame | None:
    path = holdings.find("climp-people/judgments.csv")
    if path is None:
        return None
    table = read_table(path)
    columns = ("participant", "paradigm", "item", "value", "round")
    if missing := [name for name in columns if name not in table.columns]:
        raise MissingColumns(missing, existing=[str(name) for name in table.columns], file=str(path))
    return table


def exhibits(holdings: Holdings) -> Iterator[Exhibit]:
    """Every exhibit in the order of the paper."""
    data = read_climp(holdings)
    yield _figure_1(holdings)
    yield _table_1(data)
    yield _validation(data)
    yield _joint(data, holdings)
    yield _table_2(data)


def _figure_1(holdings: Holdings) -> Exhibit:
    title = "Figure 1: frequency of the vocabulary's words in a corpus"
    words, numbers = holdings.find("climp-words/vocabulary.txt"), holdings.find("climp-words/internet-zh.num")
    if words is None or numbers is None:
        return Exhibit("figure-1", title, bring=[BRING_WORDS])
    lines = [line.split() for line in numbers.read_text(encoding="utf-8").splitlines()]
    frequencies = {line[2]: float(line[1]) for line in lines if len(line) == 3 and _is_number(line[1])}
    table = vocabulary_frequencies(words.read_text(encoding="utf-8").split(), frequencies)
    counts = coverage(table, tops=[5_000])
    chart = histogram_figure(
        np.log10(table["frequency"].dropna()), title="Frequency of the vocabulary's words",
        x="log10 of the frequency in the corpus", y="words",
        notes=[f"{int(table['frequency'].isna().sum()):,} of {len(table):,} words are not in the corpus."],
    )  # fmt: skip
    values: dict[tuple[str, str], Value] = {
        ("CLiMP", "words"): len(table),
        ("CLiMP", "words among the 5,000 most frequent"): counts[0]["words"],
    }
    return Exhibit("figure-1", title, values, charts={"figure-1": chart}, tables={"figure-1-words": table})


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _table_1(data: CLiMP) -> Exhibit:
    title = "Table 1: paradigms of each phenomenon"
    if data.pairs.empty:
        return Exhibit("table-1", title, bring=[BRING_PAIRS])
    counts = pd.Series(
        {name: data.phenomena.get(name, "") for name in set(data.pairs["paradigm"])}
    ).value_counts()
    values: dict[tuple[str, str], Value] = {(str(name), "paradigms"): int(n) for name, n in counts.items()}
    note = "The table prints three paradigms of coverbs and two of classifiers; the files have two and three."
    return Exhibit("table-1", title, values, notes=[note])


def _validation(data: CLiMP) -> Exhibit:
    title = "Section 3.4: two rounds of validation"
    values: dict[tuple[str, str], Value] = {}
    first, second = data.report(1), data.report(2)
    if first is not None:
        share = first["overall_included"]["individual_agreement"]
        values["first round", "individual agreement, %"] = None if share is None else 100 * share
    if second is not None:
        share = second["overall"]["majority_agreement"]
        values["second round", "majority agreement, %"] = None if share is None else 100 * share
    note = (
        "A paradigm is kept where mean agreement is 85 % or more; a pair is valid where more than half agree."
    )
    bring = [BRING_PEOPLE] if len(values) < 2 else []
    return Exhibit("validation", title, values, bring=bring, notes=[note])


def _joint(data: CLiMP, holdings: Holdings) -> Exhibit:
    """Human agreement by the phenomena of both data sets."""
    title = "Section 3.5: human agreement with BLiMP and CLiMP"
    shares = {"BLiMP": _blimp_people(holdings), "CLiMP": _climp_people(data)}
    values: dict[tuple[str, str], Value] = {
        (name, dataset): 100 * share
        for dataset, by_phenomenon in shares.items()
        for name, share in by_phenomenon.items()
        if name in ("anaphor agreement", "binding", "filler-gap", OVERALL)
    }
    bring = [*([] if shares["BLiMP"] else [blimp.BRING_PEOPLE]), *([] if shares["CLiMP"] else [BRING_PEOPLE])]
    tables, charts = {}, {}
    if all(shares.values()):
        table = joint_agreement(shares)
        shares_by_dataset = table.melt("phenomenon", ["BLiMP", "CLiMP"], "judge", "value")
        tables = {"joint-agreement": table}
        charts = {
            "joint-agreement": group_figure(
                shares_by_dataset.rename(columns={"phenomenon": "group"}),
                title="Human agreement by phenomenon", quantity="individual agreement",
            )
        }  # fmt: skip
    return Exhibit("joint", title, values, tables=tables, charts=charts, bring=bring)


def _blimp_people(holdings: Holdings) -> dict[str, float]:
    people = blimp.people_by_paradigm(holdings)
    return _by_phenomenon(people, blimp.PHENOMENA) if len(people) else {}


def _climp_people(data: CLiMP) -> dict[str, float]:
    report = data.report(1)
    if report is None:
        return {}
    rows = {row["paradigm"]: row["individual_agreement"] for row in report["paradigms"] if row["included"]}
    return _by_phenomenon(pd.Series(rows, dtype=float), data.phenomena)


def _by_phenomenon(people: pd.Series, phenomena: dict[str, str]) -> dict[str, float]:
    table = phenomenon_table(people.to_frame(PEOPLE), phenomena)
    return dict(zip(table["phenomenon"], table[PEOPLE], strict=True))


def _table_2(data: CLiMP) -> Exhibit:
    title = "Table 2: accuracy by phenomenon of people and models, %"
    columns: dict[str, pd.Series] = {}
    report = data.report(1)
    if report is not None:
        rows = {
            row["paradigm"]: row["individual_agreement"] for row in report["paradigms"] if row["included"]
        }
        columns[PEOPLE] = pd.Series(rows, dtype=float)
    if len(data.scores.columns) > 1:
        table = pair_table(None, data.pairs, data.scores)
        shares = paradigm_accuracies(table, pd.Series(np.nan, index=table.pairs.index))
        columns |= {str(name): shares[name] for name in shares.columns}
    bring = [BRING_PAIRS] if data.pairs.empty else []
    bring += [BRING_PEOPLE] if report is None else []
    if not set(MODELS) <= set(columns) - set(data.stand_ins):
        bring.append(BRING_MODELS)
    if not columns:
        return Exhibit("table-2", title, bring=bring)
    accuracies = pd.DataFrame(columns)
    by_phenomenon = phenomenon_table(accuracies, data.phenomena)
    values: dict[tuple[str, str], Value] = {
        (judge, row["phenomenon"]): 100 * row[judge]
        for judge in columns
        for row in by_phenomenon.to_dict("records")
        if not pd.isna(row[judge])
    }
    text = latex_table(
        by_phenomenon, caption="Accuracy by phenomenon, in percent.", label="tab:climp", percent=list(columns)
    )
    note = "Two rows of the printed table are both called LSTM-2M; the later pair is that of 0.4M sentences."
    return Exhibit(
        "table-2", title, values, data.stand_ins, latex={"table-2": text}, bring=bring, notes=[note]
    )
