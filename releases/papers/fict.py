"""Patil, Jumelet et al. (2024), "Filtered Corpus Training": table 1, tests of section 5, figures 2 to 6."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.comparison.breakdowns.filtered_corpora import (
    architecture_tests,
    by_corpus,
    item_deltas,
    robustness,
    share_targeted,
    tokens_and_perplexity,
)
from analysis.comparison.correlation import association
from analysis.comparison.in_depth.filtered_training import filtered_training
from analysis.comparison.in_depth.models import FULL, roster
from analysis.comparison.pairs import PairTable, pair_table
from analysis.corpora.conllu import read_conllu
from analysis.corpora.filtering import choose, report, survey
from analysis.corpora.filters import filter_names, find_filter
from analysis.figures.charts.models.breakdowns import group_figure, heat_map_figure, scatter_figure
from analysis.files import read_table
from analysis.scoring.perplexity import text_perplexity
from experiments.materials.readers.detect import read_materials
from releases.papers.exhibits import Exhibit, Value
from releases.papers.holdings import Holdings, named_scores, ngram_model

N_EXHIBITS = 7
FAMILIES = ("LSTM", "Transformer")
STAND_INS = {"bigram": 2, "5-gram": 5}
"""Families of models that are trained here where the paper's are not at hand, and their orders."""
PAIRS_EACH = 200
"""Pairs of each paradigm that stand-ins score."""
TEST_LINES = 400
SALIENT = ("agr-pp-mod", "npi-only", "binding-case")
"""Filters of figure 4."""
TREEBANK = ("ud-english-ewt/en_ewt-ud-dev.conllu", "ud-english-ewt/en_ewt-ud-test.conllu")
CORPUS = "the English Web Treebank's development and test parts ({sentences:,} sentences)"
BRING_CORPUS = (
    "fict/corpus.conllu: the parsed training corpus (Wikipedia of Gulordava et al., 3.05 M sentences)."
)
BRING_PARSED = "fict/parsed/PARADIGM.conllu: the acceptable sentences of a BLiMP paradigm, parsed."
BRING_PAIRS = "blimp/*.jsonl: the pairs of BLiMP."
BRING_MODELS = (
    "scores/fict/*.csv (sentence_id PARADIGM:PAIR:good and :bad, a column of log probabilities for each "
    "model) and scores/fict/models.csv (model, family LSTM or Transformer, corpus full or the filter, seed, "
    "training_tokens, perplexity on the common test corpus)."
)


@dataclass(frozen=True)
class FiCT:
    """What is at hand: removals of the filters, scores of models and what they were trained on."""

    filters: list[dict[str, Any]] = field(default_factory=list)
    corpus: str = ""
    targeted: Mapping[str, float] = field(default_factory=dict)
    table: PairTable | None = None
    models: pd.DataFrame | None = None
    is_stand_in: bool = False

    @cached_property
    def deltas(self) -> list[dict[str, Any]]:
        """Accuracy and probability deltas by architecture, filter and paradigm."""
        if self.table is None or self.models is None:
            return []
        return filtered_training(self.table, roster(self.table.models, self.models))["deltas"]

    @cached_property
    def items(self) -> pd.DataFrame:
        """Probability delta of every pair, by architecture and corpus."""
        assert self.table is not None and self.models is not None
        return item_deltas(self.table, self.models)

    @property
    def stand_ins(self) -> dict[str, str]:
        """What the rows of the families are, where they are not the paper's."""
        if not self.is_stand_in or self.models is None:
            return {}
        text = f"a stand-in, an n-gram model trained on {self.corpus}"
        return dict.fromkeys([*STAND_INS, " against ".join(STAND_INS)], text)

    @property
    def targets(self) -> dict[str, str]:
        """Filter that targets each paradigm at hand."""
        return {row["group"]: row["filter"] for row in self.deltas if row["targeted"]}


def read_fict(holdings: Holdings) -> FiCT:
    """Read the corpus, apply the filters, and score the pairs."""
    paths = holdings.find_all("fict/corpus.conllu")
    is_paper = paths is not None
    paths = paths or holdings.find_all(*TREEBANK)
    targeted = {
        path.stem: share_targeted(read_conllu(path), find_filter(name))
        for path in holdings.matching("fict/parsed/*.conllu")
        for name in filter_names()
        if path.stem in find_filter(name).paradigms
    }
    if paths is None:
        return _brought(holdings, FiCT(targeted=targeted))
    sentences = [sentence for path in paths for sentence in read_conllu(path)]
    rules = [find_filter(name) for name in filter_names()]
    removals = survey(sentences, rules)
    chosen = choose(removals, unit="sentences", seed=1)
    counts = report(removals, chosen, rules)
    left = {row["corpus"]: row["tokens_percent_of_full"] for row in counts["corpora"]}
    rows = [{**row, "tokens_left": left[row["filter"]]} for row in counts["filters"]]
    corpus = "" if is_paper else CORPUS.format(sentences=len(sentences))
    data = _brought(holdings, FiCT(rows, corpus, targeted))
    if data.table is not None or not holdings.matching("blimp/*.jsonl") or is_paper:
        return data
    texts = {
        name: [sentences[place].text for place in np.flatnonzero(flags)] for name, flags in chosen.items()
    }
    return _train_grid(holdings, data, texts)


def _brought(holdings: Holdings, data: FiCT) -> FiCT:
    path = holdings.find("scores/fict/models.csv")
    scores = holdings.scores("fict", without=("models.csv",))
    if path is None or scores is None or not holdings.matching("blimp/*.jsonl"):
        return data
    pairs, _ = _pairs(holdings)
    models = read_table(path)
    table = pair_table(None, pairs, scores)
    return FiCT(data.filters, data.corpus, data.targeted, table, _with_numbers(models))


def _with_numbers(models: pd.DataFrame) -> pd.DataFrame:
    names = [name for name in ("training_tokens", "perplexity") if name in models.columns]
    numbers = {name: pd.to_numeric(models[name]) for name in names}
    return models.assign(**numbers, corpus=models["corpus"].replace("", FULL).fillna(FULL))


def _pairs(holdings: Holdings, *, each: int | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    files = [path for path in holdings.matching("blimp/*.jsonl") if path.name != "models_summary.jsonl"]
    materials = read_materials(files, format="blimp")
    n_words = dict(
        zip(
            materials.sentences["sentence_id"],
            [len(text.split()) for text in materials.sentences["text"]],
            strict=True,
        )
    )
    pairs = materials.pairs[["pair_id", "good_id", "bad_id", "paradigm", "phenomenon"]].assign(
        words_acceptable=materials.pairs["good_id"].map(n_words),
        words_unacceptable=materials.pairs["bad_id"].map(n_words),
    )
    if each is not None:
        pairs = pairs[pairs.groupby("paradigm").cumcount() < each].reset_index(drop=True)
    members = set(pairs["good_id"]) | set(pairs["bad_id"])
    sentences = materials.sentences[materials.sentences["sentence_id"].isin(members)]
    sentences = sentences[["sentence_id", "text"]].rename(columns={"text": "sentence"})
    return pairs, sentences.reset_index(drop=True)


def _train_grid(holdings: Holdings, data: FiCT, texts: Mapping[str, list[str]]) -> FiCT:
    """Train n-gram models of two orders on the full and every filtered corpus."""
    pairs, sentences = _pairs(holdings, each=PAIRS_EACH)
    test = "\n".join(holdings.english_lines[:TEST_LINES])
    scores, rows = sentences[["sentence_id"]], []
    for family, order in STAND_INS.items():
        for corpus, lines in texts.items():
            name = f"{family} {corpus}"
            with ngram_model(lines, order=order) as model:
                scores = scores.merge(named_scores(model, sentences, {"lp": name}), on="sentence_id")
                perplexity = text_perplexity(model, test)["perplexity_per_token"] if test else np.nan
            tokens = sum(len(line.split()) for line in lines)
            row = {"model": name, "family": family, "corpus": corpus, "seed": 1}
            rows.append({**row, "training_tokens": tokens, "perplexity": perplexity})
    return FiCT(
        data.filters, data.corpus, data.targeted, pair_table(None, pairs, scores), pd.DataFrame(rows), True
    )


def exhibits(holdings: Holdings) -> Iterator[Exhibit]:
    """Every exhibit in the order of the paper."""
    data = read_fict(holdings)
    for build in (_table_1, _tests, _figure_2, _figure_3, _figure_4, _figure_5, _figure_6):
        yield build(data)


def _table_1(data: FiCT) -> Exhibit:
    title = "Table 1: filters, what they remove, and the items that they target"
    values: dict[tuple[str, str], Value] = {}
    for row in data.filters:
        values[row["filter"], "% sentences filtered out"] = row["sentences_removed_percent"]
        values[row["filter"], "tokens, % of full"] = row["tokens_left"]
    values |= {(paradigm, "% items targeted"): 100 * share for paradigm, share in data.targeted.items()}
    stand_ins = {row["filter"]: f"a stand-in, {data.corpus}" for row in data.filters if data.corpus}
    bring = [BRING_CORPUS] if data.corpus or not data.filters else []
    targeted = [name for rule in filter_names() for name in find_filter(rule).paradigms]
    bring += [] if set(targeted) <= set(data.targeted) else [BRING_PARSED]
    note = "Tokens left: all corpora cut to the sentences of the smallest, as the paper does."
    return Exhibit("table-1", title, values, stand_ins, bring=bring, notes=[note])


def _lacking(data: FiCT) -> list[str]:
    bring = [BRING_PAIRS] if data.table is None else []
    return [*bring, BRING_MODELS] if data.table is None or data.is_stand_in else bring


def _tests(data: FiCT) -> Exhibit:
    title = "Sections 5.1 to 5.3: architectures compared, corpora as units"
    if data.table is None or data.models is None:
        return Exhibit("tests", title, bring=_lacking(data))
    has_perplexity = "perplexity" in data.models.columns and data.models["perplexity"].notna().all()
    tests = architecture_tests(data.deltas, data.models if has_perplexity else None)
    values: dict[tuple[str, str], Value] = {}
    for test in tests:
        name = ", ".join(part for part in (test["measure"], test["benchmarks"]) if part)
        values[test["a"], f"mean {name}"], values[test["b"], f"mean {name}"] = test["mean_a"], test["mean_b"]
        row = f"{test['a']} against {test['b']}"
        values[row, f"{name}, t"], values[row, f"{name}, p"] = test["t"], test["p"]
    if has_perplexity:
        for part in tokens_and_perplexity(data.models):
            values[part["family"], "r of tokens and perplexity"] = part["pearson_r"]
    note = "Paired t tests over corpora; targeted: the paradigms that a corpus's filter is about, F = F(B)."
    return Exhibit(
        "tests", title, values, data.stand_ins, tables={"paired-tests": pd.DataFrame(tests)},
        bring=_lacking(data), notes=[note],
    )  # fmt: skip


def _figure_2(data: FiCT) -> Exhibit:
    title = "Figure 2: accuracy of the full corpus and accuracy deltas"
    values: dict[tuple[str, str], Value] = {}
    means = by_corpus(data.deltas)
    for row in means[means["benchmarks"] == "targeted"].to_dict("records"):
        if row["filter"] in ("agr-re-irr-sv", "agr-pp-mod"):
            values[f"{row['family']}, {row['filter']}", "delta, targeted"] = row["accuracy_delta"]
    rows = [row for row in data.deltas if row["group"] != "all"]
    charts = {
        f"figure-2-{family.lower()}": heat_map_figure(
            _cells(rows, family, "accuracy_delta"), title=f"Accuracy delta, {family}", format=".1f",
            notes=["Points, filtered minus full. Framed: the filter targets the paradigm."],
        )
        for family in dict.fromkeys(row["family"] for row in rows)
    }  # fmt: skip
    stand_ins = {row: data.stand_ins[row.partition(",")[0]] for row, _ in values} if data.is_stand_in else {}
    return Exhibit("figure-2", title, values, stand_ins, charts, bring=_lacking(data))


def _cells(rows: list[dict[str, Any]], family: str, measure: str) -> pd.DataFrame:
    return pd.DataFrame([
        {"row": row["group"], "column": row["filter"], "value": row[measure], "marked": row["targeted"]}
        for row in rows
        if row["family"] == family
    ])  # fmt: skip


def _figure_6(data: FiCT) -> Exhibit:
    title = "Figure 6: accuracy of every corpus and paradigm"
    rows = [row for row in data.deltas if row["group"] != "all"]
    charts = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        full = {row["group"]: row["accuracy_full"] for row in rows if row["family"] == family}
        first = [
            {"row": name, "column": FULL, "value": value, "marked": False} for name, value in full.items()
        ]
        cells = pd.concat([pd.DataFrame(first), _cells(rows, family, "accuracy_filtered")], ignore_index=True)
        charts[f"figure-6-{family.lower()}"] = heat_map_figure(
            cells, title=f"Accuracy, {family}", format=".0f", middle=50.0,
            notes=["Percent of pairs; chance is white. Framed: the filter targets the paradigm."],
        )  # fmt: skip
    return Exhibit("figure-6", title, charts=charts, bring=_lacking(data), notes=_notes(data))


def _notes(data: FiCT) -> list[str]:
    return [f"N-gram models trained on {data.corpus} stand in for the paper's."] if data.is_stand_in else []


def _figure_3(data: FiCT) -> Exhibit:
    """Perplexity by white-space words of both members of pairs, beside that of the test corpus."""
    title = "Figure 3: perplexity on the test corpus and on both members of pairs"
    if data.table is None or data.models is None:
        return Exhibit("figure-3", title, bring=_lacking(data))
    targets = data.targets
    rows = []
    for family, members in data.models.groupby("family", sort=False):
        for corpus, part in members.groupby("corpus", sort=False):
            names = data.table.pairs["paradigm"]
            in_group = names.isin([name for name, rule in targets.items() if rule == corpus]) | (
                corpus == FULL
            )
            pairs = data.table.pairs[in_group]
            for side, word in (("good_id", "acceptable"), ("bad_id", "unacceptable")):
                scores = data.table.scores.loc[pairs[side], list(part["model"])].mean(axis=1)
                lengths = pairs[f"words_{word}"]
                if len(pairs):
                    perplexity = float(np.exp(-scores.sum() / lengths.sum()))
                    rows.append({"group": corpus, "judge": f"{family}, {word}", "value": perplexity})
            if "perplexity" in part.columns and part["perplexity"].notna().any():
                value = float(part["perplexity"].mean())
                rows.append({"group": corpus, "judge": f"{family}, test corpus", "value": value})
    frame = pd.DataFrame(rows)
    frame = frame[frame.groupby("group")["judge"].transform("size") > data.models["family"].nunique()]
    chart = group_figure(
        frame, title="Perplexity", quantity="perplexity", domain=None, format="~s",
        notes=["Of pairs by words, of the test corpus by tokens; filtered: the targeted paradigms."],
    )  # fmt: skip
    return Exhibit("figure-3", title, charts={"figure-3": chart}, bring=_lacking(data), notes=_notes(data))


def _figure_4(data: FiCT) -> Exhibit:
    title = "Figure 4: probability deltas of items, two architectures, full and filtered"
    families = [] if data.models is None else list(dict.fromkeys(data.models["family"]))
    if len(families) < 2:
        return Exhibit("figure-4", title, bring=_lacking(data))
    charts = {}
    chosen = [name for name in SALIENT if name in data.targets.values()] or list(data.targets.values())[:3]
    for rule in dict.fromkeys(chosen):
        paradigms = [name for name, corpus in data.targets.items() if corpus == rule]
        part = data.items[data.items["paradigm"].isin(paradigms) & data.items["corpus"].isin([FULL, rule])]
        wide = part.pivot(
            index=["pair_id", "corpus"], columns="family", values="probability_delta"
        ).reset_index()
        frame = wide.rename(
            columns={families[0]: "x", families[1]: "y", "corpus": "judge", "pair_id": "name"}
        )
        charts[f"figure-4-{rule}"] = scatter_figure(
            frame[["name", "judge", "x", "y"]], title=f"Probability deltas of pairs, {rule}",
            x=f"{families[0]} (nats)", y=f"{families[1]} (nats)",
            notes=["log P(acceptable) − log P(unacceptable), mean over seeds, by training corpus."],
        )  # fmt: skip
    return Exhibit("figure-4", title, charts=charts, bring=_lacking(data), notes=_notes(data))


def _figure_5(data: FiCT) -> Exhibit:
    title = "Figure 5: probability deltas by paradigm: full models, change by filtering, robustness"
    families = [] if data.models is None else list(dict.fromkeys(data.models["family"]))
    if len(families) < 2:
        return Exhibit("figure-5", title, bring=_lacking(data))
    full = data.items[data.items["corpus"] == FULL]
    means = full.groupby(["paradigm", "family"])["probability_delta"].mean().unstack("family")
    table = robustness(data.items, data.targets)
    pair = f"{families[0]} against {families[1]}"
    values: dict[tuple[str, str], Value] = {
        (pair, "r of probability deltas, full"): _r(means, families),
        **{(name, "mean probability delta, full"): float(means[name].mean()) for name in families},
    }
    charts = {"figure-5a": _points(means, families, "A: full models, mean by paradigm (nats)")}
    for column, heading, letter in (
        ("change", "B: change by filtering (nats)", "b"),
        ("pearson_r", "C: r of items before and after filtering", "c"),
    ):
        wide = table.pivot(index="paradigm", columns="family", values=column).dropna()
        if set(families) <= set(wide.columns) and len(wide):
            charts[f"figure-5{letter}"] = _points(wide, families, heading)
            if column == "change":
                values[pair, "r of changes"] = _r(wide, families)
    return Exhibit(
        "figure-5", title, values, data.stand_ins, charts, {"figure-5-paradigms": table}, bring=_lacking(data)
    )


def _r(wide: pd.DataFrame, families: list[str]) -> float | None:
    first, second = (wide[name].to_numpy(dtype=float) for name in families[:2])
    value = association(first, second)["pearson_r"]
    return None if value is None else float(value)


def _points(wide: pd.DataFrame, families: list[str], heading: str) -> Any:
    frame = pd.DataFrame({
        "name": wide.index.astype(str), "x": wide[families[0]].to_numpy(), "y": wide[families[1]].to_numpy(),
        "judge": "paradigms",
    })  # fmt: skip
    return scatter_figure(frame, title=heading, x=families[0], y=families[1])
