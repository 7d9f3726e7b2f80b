"""Warstadt et al. (2020), "BLiMP": validation by people, tables 2 to 4, figures 1 to 6, sizes of GPT-2."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement.report import agreement_report
from analysis.comparison.breakdowns.accuracy_tables import (
    OVERALL,
    latex_table,
    paradigm_table,
    phenomenon_table,
)
from analysis.comparison.breakdowns.paradigm_groups import group_accuracies, spread_over_models
from analysis.comparison.correlation import correlation_matrix
from analysis.comparison.in_depth.learning_curves import learning_curves
from analysis.comparison.in_depth.matrices import paradigm_accuracies
from analysis.comparison.in_depth.models import PREFIX_METHODS, roster
from analysis.comparison.in_depth.predictors import shallow_predictors
from analysis.comparison.in_depth.prefixes import prefix_methods, sentence_regions
from analysis.comparison.pairs import PairTable, pair_table
from analysis.figures import Evidence, draw
from analysis.figures.charts.models.breakdowns import group_figure
from analysis.figures.charts.models.correlations import correlation_figure
from analysis.files import read_table
from analysis.scoring.words.regions import score_regions
from experiments.materials.readers.detect import read_materials
from judgments.imports.readers import read_judgments
from releases.papers.exhibits import Exhibit, Value, read_published
from releases.papers.holdings import STAND_IN, Holdings, add_weights, named_scores, ngram_model

N_EXHIBITS = 11
PEOPLE, NGRAM, TUNED = "people", "5-gram", "GPT-2"
MODELS = (NGRAM, "LSTM", "Transformer-XL", TUNED)
RELEASED = {"ngram": NGRAM, "lstm": "LSTM", "txl": "Transformer-XL", "gpt2": TUNED}
"""Columns of the released summary of the models' accuracies."""
WEIGHTS = {TUNED: ("models/gpt2-large", "hf-causal:{}")}
SIZES = {
    f"GPT-2 {size}": (f"models/{folder}", "hf-causal:{}")
    for size, folder in (
        ("117M", "gpt2"), ("345M", "gpt2-medium"), ("774M", "gpt2-large"), ("1558M", "gpt2-xl")
    )
}  # fmt: skip
TOKENS = (600, 1200, 2400, 4800)
"""Sentences of the training texts of the learning curve of the stand-in."""
BRING_PEOPLE = "blimp/human_responses.csv: the raw validation batch of MTurk."
BRING_PAIRS = "blimp/*.jsonl: the pairs; {n} of 67 paradigms are there."
BRING_MODELS = (
    "blimp/models_summary.jsonl (accuracies of the paper's models as released); or scores/blimp/*.csv "
    "(sentence_id PARADIGM:PAIR:good and :bad, columns named 5-gram, LSTM, Transformer-XL, GPT-2); or the "
    "weights of GPT-2 large as models/gpt2-large."
)
BRING_SIZES = "Weights of GPT-2 as models/gpt2, models/gpt2-medium, models/gpt2-large and models/gpt2-xl."
BRING_CURVES = (
    "scores/blimp-learning/*.csv with a column for each model, and scores/blimp-learning/models.csv "
    "(model, family LSTM or Transformer-XL, training_tokens, seed)."
)
BRING_PREFIXES = "Columns MODEL:one_prefix and MODEL:two_prefix in scores/blimp/*.csv."


@dataclass(frozen=True)
class BLiMP:
    """What is at hand of the benchmark: people's judgments, pairs, scores, released accuracies."""

    agreement: Mapping[str, Any] | None
    pairs: pd.DataFrame
    sentences: pd.DataFrame
    scores: pd.DataFrame
    released: pd.DataFrame
    stand_ins: Mapping[str, str]
    curve_scores: pd.DataFrame | None = None
    curve_models: pd.DataFrame | None = None

    @cached_property
    def table(self) -> PairTable | None:
        """Pairs with the scores of the models; None without scores."""
        whole = [name for name in self.scores.columns if ":" not in str(name)]
        return pair_table(None, self.pairs, self.scores[whole]) if len(whole) > 1 else None

    @property
    def models(self) -> list[str]:
        """Models whose scores are at hand."""
        return [] if self.table is None else self.table.models

    @cached_property
    def people(self) -> pd.Series:
        """Individual agreement by paradigm, of the paradigms that people confirmed."""
        return _select_included(self.agreement)

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """Share of pairs right by paradigm of every judge: people, then models."""
        columns: dict[str, pd.Series] = {PEOPLE: self.people} if len(self.people) else {}
        if self.table is not None:
            no_scores = pd.Series(np.nan, index=self.table.pairs.index)
            shares = paradigm_accuracies(self.table, no_scores)
            columns |= {str(name): shares[name] for name in shares.columns}
        columns |= {name: self.released[name] for name in self.released.columns if name not in columns}
        return pd.DataFrame(columns).reindex([name for name in PHENOMENA if name in _index(columns)])

    @property
    def paper_models(self) -> list[str]:
        """Models of the paper whose accuracies are at hand."""
        return [name for name in MODELS if name in self.accuracies.columns and name not in self.stand_ins]


def _index(columns: Mapping[str, pd.Series]) -> set[str]:
    return {str(name) for column in columns.values() for name in column.index}


def _phenomena() -> dict[str, str]:
    """Phenomenon of each paradigm, in the order of table 4, by the numbers of paradigms of table 2."""
    published = read_published("blimp")
    paradigms = list(dict.fromkeys(published.loc[published["exhibit"] == "table-4", "row"]))
    counts = published[published["exhibit"] == "table-2"]
    names = [row["row"] for row in counts.to_dict("records") for _ in range(int(row["value"]))]
    return dict(zip(paradigms, names, strict=True))


PHENOMENA = _phenomena()


def read_blimp(holdings: Holdings) -> BLiMP:
    """Read what is at hand, and score the pairs."""
    files = holdings.matching("blimp/*.jsonl")
    files = [path for path in files if path.name != "models_summary.jsonl"]
    pairs, sentences = pd.DataFrame(), pd.DataFrame(columns=["sentence_id", "sentence"])
    if files:
        materials = read_materials(files, format="blimp")
        fields = pd.DataFrame(materials.pairs["fields"].tolist(), index=materials.pairs.index)
        pairs = materials.pairs[["pair_id", "good_id", "bad_id", "paradigm"]].join(
            fields[["sentence_good", "sentence_bad", "one_prefix_method", "two_prefix_method"]]
        )
        pairs = pairs.assign(phenomenon=pairs["paradigm"].map(PHENOMENA).fillna(""))
        sentences = materials.sentences[["sentence_id", "text"]].rename(columns={"text": "sentence"})
    scores, stand_ins = _scores(holdings, pairs, sentences)
    curve_scores, curve_models = _learning(holdings, sentences)
    return BLiMP(
        _agreement(holdings), pairs, sentences, scores, _load_released(holdings), stand_ins,
        curve_scores, curve_models,
    )  # fmt: skip


def _agreement(holdings: Holdings) -> dict[str, Any] | None:
    path = holdings.find("blimp/human_responses.csv")
    if path is None:
        return None
    batch = read_judgments(path, "mturk-batch")
    rows = batch.judgments.merge(
        batch.sessions[["session", "participant", "submission_status"]], on="session"
    )
    rows = rows[rows["submission_status"] != "rejected"]
    rows = rows.assign(item=rows["paradigm"] + ": " + rows["good_text"], task="forced_choice")
    rows = rows[rows["value"].notna()].reset_index(drop=True)
    return agreement_report(rows, rule="blimp", draws=0, experiment="blimp")


def _select_included(agreement: Mapping[str, Any] | None) -> pd.Series:
    rows = [] if agreement is None else agreement["paradigms"]
    return pd.Series(
        {row["paradigm"]: row["individual_agreement"] for row in rows if row["included"]}, dtype=float
    )


def people_by_paradigm(holdings: Holdings) -> pd.Series:
    """Individual agreement by paradigm from the validation batch; empty if it is not there."""
    return _select_included(_agreement(holdings))


def _load_released(holdings: Holdings) -> pd.DataFrame:
    path = holdings.find("blimp/models_summary.jsonl")
    if path is None:
        return pd.DataFrame()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    table = pd.DataFrame(lines)
    table = table[table["UID"] != "overall"].set_index("UID")
    return table[[name for name in RELEASED if name in table.columns]].rename(columns=RELEASED).astype(float)


def _scores(
    holdings: Holdings, pairs: pd.DataFrame, sentences: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, str]]:
    scores, stand_ins = sentences[["sentence_id"]], {}
    if pairs.empty:
        return scores, {}
    brought = holdings.scores("blimp")
    if brought is not None:
        scores = scores.merge(brought, on="sentence_id", how="left")
    scores = add_weights(holdings, scores, sentences, {**WEIGHTS, **SIZES})
    lines = holdings.english_lines
    if lines and NGRAM not in scores.columns:
        with ngram_model(lines, order=5) as model:
            scores = scores.merge(named_scores(model, sentences, {"lp": NGRAM}), on="sentence_id")
            for method in PREFIX_METHODS:
                regions = sentence_regions(_lines(pairs), method)
                if regions:
                    words = score_regions(model, scores["sentence_id"].tolist(), regions).logprob
                    scores = scores.assign(**{f"{NGRAM}:{method}": words})
        stand_ins[NGRAM] = STAND_IN.format(sentences=len(lines))
    return scores, stand_ins


def _lines(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in pairs.to_dict("records")]


def _learning(holdings: Holdings, sentences: pd.DataFrame) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """Scores and metadata of the models of figure 5: those that were brought, else stand-ins."""
    models = holdings.find("scores/blimp-learning/models.csv")
    if models is not None:
        return holdings.scores("blimp-learning", without=("models.csv",)), read_table(models)
    lines = holdings.english_lines
    if sentences.empty or len(lines) < TOKENS[-1]:
        return None, None
    order = np.random.default_rng(1).permutation(len(lines))
    scores, rows = sentences[["sentence_id"]], []
    for size in TOKENS:
        text = [lines[place] for place in order[:size]]
        name = f"5-gram {size:,}"
        with ngram_model(text, order=5) as model:
            scores = scores.merge(named_scores(model, sentences, {"lp": name}), on="sentence_id")
        tokens = sum(len(line.split()) for line in text)
        rows.append({"model": name, "family": NGRAM, "training_tokens": tokens, "seed": 1})
    return scores, pd.DataFrame(rows)


def exhibits(holdings: Holdings) -> Iterator[Exhibit]:
    """Every exhibit in the order of the paper; table 1 lists related work and has no numbers."""
    data = read_blimp(holdings)
    for build in (
        _table_2, _validation, _table_3, _figure_1, _figure_2, _figure_3, _figure_4, _figure_5, _sizes,
        _figure_6, _table_4,
    ):  # fmt: skip
        yield build(data)


def _validation(data: BLiMP) -> Exhibit:
    title = "Section 3.4: validation by people"
    if data.agreement is None:
        return Exhibit("validation", title, bring=[BRING_PEOPLE])
    part = data.agreement["overall_included"]
    judged = sum(row["status"] in ("included", "rejected") for row in data.agreement["paradigms"])
    values: dict[tuple[str, str], Value] = {
        ("BLiMP", "paradigms included"): part["paradigms"],
        ("BLiMP", "paradigms judged"): judged,
        ("BLiMP", "majority agreement, %"): 100 * part["majority_agreement"],
        ("BLiMP", "individual agreement, %"): 100 * part["individual_agreement"],
    }
    note = (
        "Rejected assignments and attention checks left out; a paradigm is included where the majority is "
        "right on at least four of its five pairs. Individual agreement: mean of the pairs' shares."
    )
    return Exhibit("validation", title, values, notes=[note])


def _table_2(data: BLiMP) -> Exhibit:
    """Number of paradigms of each phenomenon among those that people confirmed."""
    title = "Table 2: paradigms of each phenomenon"
    if not len(data.people):
        return Exhibit("table-2", title, bring=[BRING_PEOPLE])
    counts = data.people.index.map(PHENOMENA).value_counts()
    return Exhibit("table-2", title, {(str(name), "paradigms"): int(n) for name, n in counts.items()})


def _lacking(data: BLiMP) -> list[str]:
    bring = [] if len(data.people) else [BRING_PEOPLE]
    return bring if set(MODELS) <= set(data.paper_models) else [*bring, BRING_MODELS]


def _notes(data: BLiMP) -> list[str]:
    n = data.pairs["paradigm"].nunique() if len(data.pairs) else 0
    note = f"The 5-gram model of our column scored the {n} paradigms whose pairs are at hand."
    return [note] if NGRAM in data.stand_ins else []


def _table_3(data: BLiMP) -> Exhibit:
    title = "Table 3: accuracy by phenomenon, %"
    if data.accuracies.empty:
        return Exhibit("table-3", title, bring=_lacking(data))
    table = phenomenon_table(data.accuracies, PHENOMENA)
    judges = [str(name) for name in table.columns[2:]]
    values: dict[tuple[str, str], Value] = {
        (row["phenomenon"], judge): 100 * row[judge]
        for row in table.to_dict("records")
        for judge in judges
        if not pd.isna(row[judge])
    }
    text = latex_table(
        table, caption="Accuracy by phenomenon, in percent.", label="tab:phenomena", percent=judges
    )
    return Exhibit(
        "table-3",
        title,
        values,
        data.stand_ins,
        latex={"table-3": text},
        bring=_lacking(data),
        notes=_notes(data),
    )


def _table_4(data: BLiMP) -> Exhibit:
    title = "Table 4: accuracy by paradigm, %, with marks of the prefix methods"
    if data.accuracies.empty:
        return Exhibit("table-4", title, bring=_lacking(data))
    table = paradigm_table(data.accuracies, PHENOMENA, data.pairs if len(data.pairs) else None)
    judges = [str(name) for name in data.accuracies.columns]
    values: dict[tuple[str, str], Value] = {
        (row["paradigm"], judge): 100 * row[judge]
        for row in table.to_dict("records")
        for judge in judges
        if not pd.isna(row[judge])
    }
    text = latex_table(
        table, caption="Accuracy by paradigm, in percent.", label="tab:paradigms", percent=judges, decimals=0
    )
    n = data.pairs["paradigm"].nunique() if len(data.pairs) else 0
    bring = [*_lacking(data), *([BRING_PAIRS.format(n=n)] if n < len(PHENOMENA) else [])]
    notes = [
        *_notes(data),
        "The printed table has two runs of rows in another order than their numbers (argument structure, and "
        "agreement with an adjective between); each number is compared where it belongs, and differences.csv "
        "names the row beside which it is printed. GPT-2's column has further errors, corrected in the "
        "released summary.",
    ]
    return Exhibit(
        "table-4", title, values, data.stand_ins, tables={"table-4-marks": table}, latex={"table-4": text},
        bring=bring, notes=notes,
    )  # fmt: skip


def _with_printed(data: BLiMP) -> tuple[pd.DataFrame, list[str]]:
    """Accuracies by paradigm; of models that are not at hand as table 4 prints them, and their names."""
    published = read_published("blimp")
    printed = published[published["exhibit"] == "table-4"]
    table = printed.assign(value=printed["value"].astype(float) / 100).pivot(
        index="row", columns="measure", values="value"
    )
    at_hand = [name for name in (PEOPLE, *MODELS) if name in data.accuracies and name not in data.stand_ins]
    columns = {name: (data.accuracies if name in at_hand else table)[name] for name in (PEOPLE, *MODELS)}
    accuracies = pd.DataFrame(columns).reindex(list(PHENOMENA))
    return accuracies, [name for name in columns if name not in at_hand]


def _printed_note(names: list[str]) -> list[str]:
    return [f"Drawn from the numbers of table 4 as printed: {', '.join(names)}."] if names else []


def _figure_1(data: BLiMP) -> Exhibit:
    title = "Figure 1: correlation of accuracies by paradigm"
    accuracies, printed = _with_printed(data)
    cells = correlation_matrix(accuracies)
    values: dict[tuple[str, str], Value] = {}
    for row in cells.to_dict("records"):
        names = sorted((row["a"], row["b"]), key=lambda name: (PEOPLE, *MODELS[::-1]).index(name))
        pair = ", ".join([names[1], names[0]] if PEOPLE in names else names)
        values["Transformer-XL, LSTM" if set(names) == {"LSTM", "Transformer-XL"} else pair, "r"] = row[
            "pearson_r"
        ]
    chart = correlation_figure(cells, quantity="accuracies by paradigm", unit="paradigms")
    return Exhibit(
        "figure-1", title, values, _printed_rows(values, printed), {"figure-1": chart}, bring=_lacking(data),
        notes=_printed_note(printed),
    )  # fmt: skip


def _printed_rows(values: Mapping[tuple[str, str], Value], printed: list[str]) -> dict[str, str]:
    """Rows that need a model whose numbers were taken from the paper: these are no result of ours."""
    text = "computed from the numbers of table 4 as printed"
    return {
        row: text for row, _ in values if any(row.startswith(name) or f", {name}" in row for name in printed)
    }


def _figure_2(data: BLiMP) -> Exhibit:
    title = "Figure 2: accuracy by length, perplexity, probability and confidence"
    if data.table is None:
        return Exhibit("figure-2", title, bring=[BRING_PAIRS.format(n=0), BRING_MODELS])
    rows = shallow_predictors(data.table, roster(data.table.models))
    charts = {}
    for predictor in dict.fromkeys(row["predictor"] for row in rows):
        bins = [
            {"group": part["label"], "judge": row["judge"], "value": part["accuracy"], **_ends(part)}
            for row in rows
            if row["predictor"] == predictor
            for part in row["bins"]
        ]
        charts[f"figure-2-{predictor.replace(' ', '-')}"] = group_figure(
            pd.DataFrame(bins), title=f"Accuracy by {predictor}", quantity="share of pairs right",
            notes=["Bins from the lowest values (top); lines: Wilson, 95 %; dashed: chance."], line=0.5,
        )  # fmt: skip
    table = pd.DataFrame(rows).drop(columns="bins")
    return Exhibit(
        "figure-2",
        title,
        charts=charts,
        tables={"figure-2-r": table},
        bring=_lacking(data),
        notes=_notes(data),
    )


def _ends(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"ci_low": part["ci_low"], "ci_high": part["ci_high"]}


def _compare_groups(
    data: BLiMP, key: str, title: str, parts: Mapping[str, str], differences: Mapping[str, Any]
) -> Exhibit:
    """A figure of groups of paradigms, with differences of their means in points."""
    accuracies, printed = _with_printed(data)
    values: dict[tuple[str, str], Value] = {}
    charts = {}
    for grouping, heading in parts.items():
        table = group_accuracies(accuracies, grouping)
        charts[f"{key}-{grouping}"] = group_figure(
            table, title=heading, quantity="share of pairs right", line=0.5,
            notes=["Unweighted means of paradigms; dashed: chance."],
        )  # fmt: skip
        means = table.set_index(["judge", "group"])["value"]
        word, first, second = differences[grouping]
        for judge in table["judge"].unique():
            shares = means[judge]
            lower = shares[[any(part in name for part in first) for name in shares.index]]
            upper = shares[[any(part in name for part in second) for name in shares.index]]
            if len(lower) and len(upper):
                difference = 100 * float(lower.mean() - upper.mean())
                values[f"{judge}, {word}", "difference, points"] = difference
    return Exhibit(
        key,
        title,
        values,
        _printed_rows(values, printed),
        charts,
        bring=_lacking(data),
        notes=_printed_note(printed),
    )


def _figure_3(data: BLiMP) -> Exhibit:
    return _compare_groups(
        data, "figure-3", "Figure 3: adjective between determiner and noun, kind of attractor",
        {"adjective": "Determiner-noun agreement", "attractor": "Subject-verb agreement by attractor"},
        {
            "adjective": ("adjective between", ["adjective"], ["adjacent"]),
            "attractor": ("attractor", ["relati"], ["none"]),
        },
    )  # fmt: skip


def _figure_4(data: BLiMP) -> Exhibit:
    return _compare_groups(
        data, "figure-4", "Figure 4: regular and irregular nouns",
        {"morphology": "Agreement by morphology of the noun"},
        {"morphology": ("irregular", [", irregular"], [", regular"])},
    )  # fmt: skip


def _figure_5(data: BLiMP) -> Exhibit:
    title = "Figure 5: learning curves"
    if data.curve_scores is None or data.curve_models is None:
        return Exhibit("figure-5", title, bring=[BRING_CURVES])
    names = [str(name) for name in data.curve_scores.columns[1:]]
    table = pair_table(None, data.pairs, data.curve_scores)
    no_scores = pd.Series(np.nan, index=table.pairs.index)
    curves = learning_curves(table, roster(names, data.curve_models), no_scores)
    values: dict[tuple[str, str], Value] = {}
    stand_ins, charts = {}, {}
    families = list(dict.fromkeys(curve["family"] for curve in curves))
    for family in families:
        points = []
        for curve in (row for row in curves if row["family"] == family):
            label = f"{family}: {OVERALL if curve['group'] == 'all' else curve['group']}"
            if curve["slope_per_doubling"] is not None:
                values[label, "slope per doubling"] = curve["slope_per_doubling"]
                if family == NGRAM:
                    stand_ins[label] = "a stand-in, trained here on four sizes of WikiText-2's sentences"
            points += [{**point, "phenomenon": curve["group"]} for point in curve["points"]]
        evidence = Evidence(learning=pd.DataFrame(points), basis=f"Models: {family}.")
        charts[f"figure-5-{family.lower()}"] = draw("learning-curves", evidence)
    is_whole = {"LSTM", "Transformer-XL"} <= set(families)
    return Exhibit("figure-5", title, values, stand_ins, charts, bring=[] if is_whole else [BRING_CURVES])


def _sizes(data: BLiMP) -> Exhibit:
    title = "Section 6.3: four sizes of GPT-2"
    names = [name for name in SIZES if name in data.accuracies.columns]
    if len(names) < 2:
        return Exhibit("sizes", title, bring=[BRING_SIZES])
    spread = spread_over_models(data.accuracies[names].dropna(), PHENOMENA)
    by_phenomenon = spread[spread["phenomenon"] != OVERALL]
    overall = spread[spread["phenomenon"] == OVERALL].iloc[0]
    values: dict[tuple[str, str], Value] = {
        ("GPT-2, four sizes", "mean accuracy"): float(overall["mean"]),
        ("GPT-2, four sizes", "largest SD of a phenomenon"): float(by_phenomenon["sd"].max()),
    }
    bring = [BRING_SIZES] if len(names) < len(SIZES) else []
    return Exhibit("sizes", title, values, tables={"sizes": spread}, bring=bring)


def _figure_6(data: BLiMP) -> Exhibit:
    title = "Figure 6: whole sentences and prefix methods"
    names = [str(name) for name in data.scores.columns[1:]]
    if not any(name.endswith(PREFIX_METHODS) for name in names):
        return Exhibit("figure-6", title, bring=[BRING_PAIRS.format(n=0), BRING_PREFIXES])
    table = pair_table(None, data.pairs, data.scores)
    rows = pd.DataFrame(prefix_methods(table, roster(names), rng=np.random.default_rng(6)))
    parts = []
    for row in rows.to_dict("records"):
        group = f"{OVERALL if row['group'] == 'all' else row['group']}, {row['method'].replace('_', '-')}"
        parts += [
            {"group": group, "judge": f"{row['name']}, prefix", "value": row["accuracy"]},
            {"group": group, "judge": f"{row['name']}, whole sentence", "value": row["whole_accuracy"]},
        ]
    chart = group_figure(
        pd.DataFrame(parts), title="Whole sentences and prefix methods", quantity="share of pairs right",
        line=0.5, notes=["The same pairs by both methods; dashed: chance."],
    )  # fmt: skip
    bring = [BRING_PREFIXES] if data.stand_ins else []
    return Exhibit(
        "figure-6",
        title,
        charts={"figure-6": chart},
        tables={"figure-6-methods": rows},
        bring=bring,
        notes=_notes(data),
    )
