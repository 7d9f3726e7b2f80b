"""Vázquez Martínez (2021), "The Acceptability Delta Criterion": LI-Adger, equations 1-5, tables, figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.comparison.breakdowns.classifiers import mcc_by_feature, restart_summary, split_features
from analysis.comparison.breakdowns.criteria import criteria_by_pair, pairs_apart
from analysis.comparison.correlation import correlation_rows
from analysis.comparison.criteria import acceptability_delta_criterion, adc_shares
from analysis.comparison.pairs import PairTable, pair_table
from analysis.errors import BadInput
from analysis.figures import Evidence, draw
from analysis.figures.charts.models.breakdowns import group_figure
from analysis.files import read_table
from analysis.training.cola import read_cola
from experiments.materials.readers.detect import read_materials
from releases.papers.exhibits import Exhibit, Value, read_published
from releases.papers.holdings import STAND_IN, Holdings, add_weights, named_scores, ngram_model

TITLE = "The Acceptability Delta Criterion (Vázquez Martínez 2021)"
DELTAS = (0.5, 1.0, 5.0)
TRIGRAMS = {"lp": "trigram log-prob", "slor": "trigram SLOR"}
CLASSIFIER = "BERT-large-cased CoLA"
WEIGHTS = {
    f"{name} {kind}": (f"models/{name.lower()}{suffix}", uri)
    for name in ("BERT-base-uncased", "BERT-large-uncased", "BERT-large-cased")
    for kind, suffix, uri in (
        ("MLM", "", "hf-masked:{}?method=pll"),
        ("CoLA", "-cola", "hf-classifier:{}?output=confidence"),
    )
}
"""Row of table 1 → its folder of weights in the data folder, and how it is scored."""
DATA = (
    "li-adger/li-adger_sentences.csv",
    "li-adger/human_ME_results_li-adger_sentences.csv",
    "li-adger/li-adger_min_pairs.csv",
)
BRING_DATA = f"{', '.join(DATA)}: sentences, pairs and human scores of LI-Adger."
BRING_SCORES = (
    "scores/adc/*.csv (sentence_id of LI-Adger, a column for each model, named as its row), or the weights "
    "of the models as folders of transformers: " + ", ".join(folder for folder, _ in WEIGHTS.values()) + "."
)
BRING_TRIGRAM = (
    "A trigram model of the British National Corpus: its scores as the columns trigram log-prob and trigram "
    "SLOR in scores/adc/*.csv."
)
EQUATIONS = "Signs as published: (Δh > 0) = (Δlm > 0). Model scores: z over all sentences, ddof 0."


@dataclass(frozen=True)
class LIAdger:
    """The data set, and the scores at hand joined to it."""

    sentences: pd.DataFrame
    pairs: pd.DataFrame
    scores: pd.DataFrame
    stand_ins: dict[str, str]

    @cached_property
    def human(self) -> pd.DataFrame:
        """Mean ratings, in standard deviations, by sentence."""
        means = [row.get("judgement") for row in self.sentences["attributes"]]
        return self.sentences[["sentence_id"]].assign(
            score=pd.to_numeric(pd.Series(means), errors="coerce").to_numpy()
        )

    @cached_property
    def texts(self) -> dict[str, str]:
        """Sentence of each id."""
        return dict(zip(self.sentences["sentence_id"], self.sentences["text"], strict=True))

    @cached_property
    def table(self) -> PairTable:
        """Pairs that are not discarded, with differences."""
        return pair_table(self.human, self.pairs, self.scores)

    @property
    def models(self) -> list[str]:
        """Names of the models at hand."""
        return [str(name) for name in self.scores.columns[1:]]

    @cached_property
    def by_pair(self) -> pd.DataFrame:
        """Every criterion for every pair and model."""
        return criteria_by_pair(self.table, deltas=DELTAS, signs="published")

    def find_id(self, text: str) -> str | None:
        """Id of a sentence in a pair, by its text; None if no sentence or no pair has it."""
        members = set(self.pairs["good_id"]) | set(self.pairs["bad_id"])
        return next((name for name, words in self.texts.items() if words == text and name in members), None)

    def pair_text(self, pair_ids: list[str]) -> pd.DataFrame:
        """Sentences and human scores of pairs."""
        pairs = self.table.pairs.set_index("pair_id").loc[pair_ids]
        scores = self.human.set_index("sentence_id")["score"]
        return pd.DataFrame({
            "pair_id": pair_ids,
            "acceptable": pairs["good_id"].map(self.texts).to_numpy(),
            "unacceptable": pairs["bad_id"].map(self.texts).to_numpy(),
            "people, acceptable": pairs["good_id"].map(scores).to_numpy(),
            "people, unacceptable": pairs["bad_id"].map(scores).to_numpy(),
        })  # fmt: skip


def read_li_adger(holdings: Holdings) -> LIAdger | None:
    """Read LI-Adger and score it with what is at hand; None if it is not there."""
    paths = holdings.find_all(*DATA)
    if paths is None:
        return None
    materials = read_materials(paths, format="li-adger")
    pairs = materials.pairs[~materials.pairs["discard"].astype(bool)].reset_index(drop=True)
    scores, stand_ins = _scores(holdings, materials.sentences)
    return LIAdger(
        materials.sentences,
        pairs[["pair_id", "good_id", "bad_id", "paradigm", "phenomenon"]],
        scores,
        stand_ins,
    )


def _scores(holdings: Holdings, sentences: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    scored = sentences[["sentence_id", "text"]].rename(columns={"text": "sentence"})
    scores, stand_ins = scored[["sentence_id"]], {}
    brought = holdings.scores("adc")
    if brought is not None:
        scores = scores.merge(brought, on="sentence_id", how="left")
    scores = add_weights(holdings, scores, scored, WEIGHTS)
    lines = holdings.english_lines
    if lines and not set(TRIGRAMS.values()) & set(scores.columns):
        with ngram_model(lines, order=3) as trigram:
            scores = scores.merge(named_scores(trigram, scored, TRIGRAMS), on="sentence_id", how="left")
        stand_ins = dict.fromkeys(TRIGRAMS.values(), STAND_IN.format(sentences=len(lines)))
    return scores, stand_ins


def exhibits(holdings: Holdings) -> Iterator[Exhibit]:
    """Every exhibit in the order of the paper."""
    data = read_li_adger(holdings)
    for build in (_data, _equations, _table_1, _figure_1, _table_2, _table_3, _table_4):
        yield build(data)
    yield _table_5(holdings)
    yield _features(holdings, 2, "major")
    yield _table_6(data)
    yield _features(holdings, 3, "minor")
    for build in (_table_7, _table_8, _figure_4):
        yield build(data)


N_EXHIBITS = 14


def _data(data: LIAdger | None) -> Exhibit:
    title = "Section 4: the LI-Adger data set"
    if data is None:
        return Exhibit("data", title, bring=[BRING_DATA])
    types = data.sentences["sentence_id"].str.rpartition(".")[0].nunique()
    values: dict[tuple[str, str], Value] = {
        ("LI-Adger", "sentences"): len(data.sentences),
        ("LI-Adger", "sentence types"): int(types),
        ("LI-Adger", "pairs compared"): int(data.table.is_labeled.sum())
        if data.models
        else _n_labelled(data),
    }
    note = (
        "The paper counts 4,177 sentences in its abstract and 4,179 in section 6; the file has 4,178, two of "
        "them without a rating. Pairs that the file marks as discarded are left out. A sentence type is "
        "counted as an id without its last number; the file has three more than the paper names."
    )
    return Exhibit("data", title, values, notes=[note])


def _n_labelled(data: LIAdger) -> int:
    rated = set(data.human.dropna()["sentence_id"])
    return int((data.pairs["good_id"].isin(rated) & data.pairs["bad_id"].isin(rated)).sum())


def _equations(data: LIAdger | None) -> Exhibit:
    """Equations 1 and 2 on the pairs of appendix C, 3 to 5 on two logits."""
    logits = np.array([-0.4, 1.1])
    probability = np.exp(logits) / np.exp(logits).sum()
    label = -1 if probability.argmax() == 0 else 1
    human, model = [2.320552, 0.023432], [0.633896671, -0.158799029]
    verdicts = acceptability_delta_criterion(human, model, delta=1.0)
    table = pd.DataFrame({
        "equation": ["1", "2", "3", "4", "5"],
        "what": [
            "sign(Δh) = sign(Δlm), the two pairs of appendix C",
            "|Δh − Δlm| < δ = 1, the same pairs; with equation 1: the ADC",
            "softmax of the logits −0.4 and 1.1",
            "the likelier label",
            "label −1 or +1 times its probability",
        ],
        "value": [
            ", ".join(str(bool(np.sign(a) == np.sign(b))) for a, b in zip(human, model, strict=True)),
            ", ".join(str(bool(value)) for value in verdicts),
            ", ".join(f"{value:.4f}" for value in probability),
            str(int(probability.argmax())),
            f"{label * probability.max():.4f}",
        ],
        "function": [
            "obelus.comparison.criteria.signs_agree",
            "obelus.comparison.criteria.acceptability_delta_criterion",
            "hf-classifier:MODEL",
            "hf-classifier:MODEL",
            "hf-classifier:MODEL?output=confidence",
        ],
    })  # fmt: skip
    return Exhibit("equations", "Equations 1 to 5", tables={"equations": table})


def _table_1(data: LIAdger | None) -> Exhibit:
    title = "Table 1: BLiMP criterion and ADC by model"
    if data is None or not data.models:
        return Exhibit("table-1", title, bring=_lacking(data, BRING_SCORES, BRING_TRIGRAM))
    values: dict[tuple[str, str], Value] = {}
    human = data.table.human_delta.to_numpy(dtype=float)
    for name in data.models:
        model = data.table.model_delta[name].to_numpy(dtype=float)
        is_counted = data.table.is_labeled & ~np.isnan(model)
        values[name, "BLiMP"] = float(data.table.prefers_good[name][is_counted].mean())
        shares = adc_shares(human, model, deltas=DELTAS, signs="published")
        values |= {(name, f"ADC {delta:g}"): share for delta, share in shares.items()}
    evidence = _evidence(data)
    return Exhibit(
        "table-1", title, values, data.stand_ins, charts={"adc-curve": draw("adc", evidence)},
        bring=_missing(data), notes=[EQUATIONS],
    )  # fmt: skip


def _lacking(data: LIAdger | None, *texts: str) -> list[str]:
    return [*([BRING_DATA] if data is None else []), *texts]


def _missing(data: LIAdger) -> list[str]:
    bring = [] if set(WEIGHTS) <= set(data.models) else [BRING_SCORES]
    return (
        [*bring, BRING_TRIGRAM] if data.stand_ins or not set(TRIGRAMS.values()) <= set(data.models) else bring
    )


def _evidence(data: LIAdger, model: str = "") -> Evidence:
    return Evidence(
        human=data.human, pairs=data.pairs, scores=data.scores, sentences=data.texts, model=model,
        signs="published", deltas=DELTAS, basis="LI-Adger.",
    )  # fmt: skip


def _figure_1(data: LIAdger | None) -> Exhibit:
    title = "Figure 1: Pearson's r of differences, models and people"
    if data is None or not data.models:
        return Exhibit("figure-1", title, bring=_lacking(data, BRING_SCORES))
    deltas = data.table.model_delta.copy()
    deltas.insert(0, "people", data.table.human_delta.to_numpy())
    values: dict[tuple[str, str], Value] = {
        (row["b"], "r with people"): row["pearson_r"]
        for row in correlation_rows(deltas)
        if row["a"] == "people"
    }
    chart = draw("correlations", _evidence(data))
    return Exhibit("figure-1", title, values, data.stand_ins, {"figure-1": chart}, bring=_missing(data))


def _table_2(data: LIAdger | None) -> Exhibit:
    title = "Table 2: a multi-condition phenomenon"
    if data is None:
        return Exhibit("table-2", title, bring=[BRING_DATA])
    names = ("ch8.150.*.01", "ch8.151.g.01", "ch8.152.g.01")
    values: dict[tuple[str, str], Value] = {(name, "sentence"): data.texts.get(name) for name in names}
    pairs = data.pairs[data.pairs["bad_id"] == names[0]][["pair_id", "good_id", "bad_id"]]
    return Exhibit("table-2", title, values, tables={"table-2-pairs": pairs})


def _table_3(data: LIAdger | None) -> Exhibit:
    title = "Table 3: mean ratings of two pairs"
    if data is None:
        return Exhibit("table-3", title, bring=[BRING_DATA])
    scores = data.human.set_index("sentence_id")["score"]
    names = ("32.3.Culicover.7a.g.01", "32.3.Culicover.7b.*.01", "33.2.bowers.7b.g.07", "33.2.bowers.7b.*.07")
    values: dict[tuple[str, str], Value] = {
        (name, "ME z"): float(scores[name]) for name in names if name in scores
    }
    return Exhibit("table-3", title, values)


def _table_4(data: LIAdger | None) -> Exhibit:
    title = "Table 4: the criteria on the two pairs"
    if data is None:
        return Exhibit("table-4", title, bring=_lacking(data, BRING_TRIGRAM))
    scores = data.human.set_index("sentence_id")["score"]
    values: dict[tuple[str, str], Value] = {}
    partners = {
        "32.3.Culicover.7a.g.01": "32.3.Culicover.7b.*.01",
        "33.2.bowers.7b.g.07": "33.2.bowers.7b.*.07",
    }
    for good, bad in partners.items():
        if good in scores and bad in scores:
            values[good, "Δ people"] = float(scores[good] - scores[bad])
    name = TRIGRAMS["lp"]
    if name not in data.models or name in data.stand_ins:
        notes = ["The model's columns need the paper's own trigram."]
        return Exhibit("table-4", title, values, bring=[BRING_TRIGRAM], notes=notes)
    for row in data.by_pair[data.by_pair["model"] == name].to_dict("records"):
        if partners.get(row["good_id"]) == row["bad_id"]:
            values |= {
                (row["good_id"], "Δ model"): row["model_delta"],
                (row["good_id"], "BLiMP met"): bool(row["blimp"]),
                (row["good_id"], "ADC 1 met"): bool(row["adc_1"]),
            }
    return Exhibit("table-4", title, values)


def _table_5(holdings: Holdings) -> Exhibit:
    title = "Table 5: Matthews correlation over restarts, CoLA test set"
    test = holdings.find("cola/cola_out_of_domain_test.csv")
    files = holdings.matching("scores/cola/*.csv")
    bring = (
        "scores/cola/NAME.csv for each classifier (NAME as its row): a row for each sentence of "
        "cola/cola_out_of_domain_test.csv in order, a column of 0 and 1 for each restart."
    )
    if test is None or not files:
        lacking = [] if test else ["cola/cola_out_of_domain_test.csv (label, sentence)."]
        return Exhibit("table-5", title, bring=[*lacking, bring])
    labels = pd.Series(read_cola(test).labels)
    values: dict[tuple[str, str], Value] = {}
    for path in files:
        summary = restart_summary(labels, _decisions(path, len(labels)))
        for measure, key in (("mean", "mean"), ("SD", "sd"), ("max", "max"), ("ensemble", "ensemble")):
            values[path.stem, measure] = summary[key]
    return Exhibit(
        "table-5", title, values, bring=[bring] * (len(files) < 3), notes=["SD over restarts, ddof 1."]
    )


def _decisions(path: Any, n: int) -> pd.DataFrame:
    table = read_table(path).reset_index(drop=True)
    decisions = table.drop(
        columns=[name for name in table.columns if name in ("sentence_id", "sentence", "label")]
    )
    if len(decisions) != n:
        raise BadInput(f"it has {len(decisions)} rows, the sentences are {n}.", file=str(path))
    return decisions.astype(float)


def _table_6(data: LIAdger | None) -> Exhibit:
    title = "Table 6: pairs that meet the BLiMP criterion and fail the ADC at δ = 5"
    if data is None:
        return Exhibit("table-6", title, bring=_lacking(data, BRING_SCORES))
    values = _printed_scores(data, "table-6")
    tables, total = {}, "pairs that meet BLiMP and fail ADC 5"
    for name in data.models:
        pairs = pairs_apart(data.by_pair, (name, "blimp"), [(name, "adc_5")])
        values[total, name] = len(pairs)
        tables[f"table-6-{_slug(name)}"] = data.pair_text(pairs)
    bring = [] if CLASSIFIER in data.models else [BRING_SCORES]
    note = "Sentences are found by their text; the file spells one of the printed ones otherwise (calculatd)."
    return Exhibit("table-6", title, values, data.stand_ins, tables=tables, bring=bring, notes=[note])


def _apart(data: LIAdger | None, number: int, meets: str, fails: str) -> Exhibit:
    title = f"Table {number}: pairs that meet the ADC at δ = 0.5 by {meets}, not by {fails}"
    trigram = TRIGRAMS["slor"]
    if data is None or trigram not in data.models:
        return Exhibit(f"table-{number}", title, bring=_lacking(data, BRING_SCORES, BRING_TRIGRAM))
    values = _printed_scores(data, f"table-{number}")
    classifiers = [name for name in data.models if name.endswith(" CoLA")]
    tables = {}
    if classifiers:
        rows = data.by_pair
        if meets == "the trigram":
            pairs = pairs_apart(rows, (trigram, "adc_0.5"), [(name, "adc_0.5") for name in classifiers])
        else:
            sets = [pairs_apart(rows, (name, "adc_0.5"), [(trigram, "adc_0.5")]) for name in classifiers]
            pairs = [pair for pair in sets[0] if all(pair in other for other in sets)]
        tables[f"table-{number}-pairs"] = data.pair_text(pairs)
    bring = _missing(data)
    return Exhibit(f"table-{number}", title, values, tables=tables, bring=bring)


def _table_7(data: LIAdger | None) -> Exhibit:
    return _apart(data, 7, "all three classifiers", "the trigram")


def _table_8(data: LIAdger | None) -> Exhibit:
    return _apart(data, 8, "the trigram", "the classifiers")


def _printed_scores(data: LIAdger, key: str) -> dict[tuple[str, str], Value]:
    """Our scores of the sentences that a table of the paper prints, found by their text."""
    published = read_published("adc")
    human = data.human.set_index("sentence_id")["score"]
    values: dict[tuple[str, str], Value] = {}
    for row in published[published["exhibit"] == key].to_dict("records"):
        name = data.find_id(row["row"])
        if name is None:
            continue
        model = row["measure"]
        if model == "people":
            values[row["row"], model] = float(human[name])
        elif model in data.models and model not in data.stand_ins:
            values[row["row"], model] = float(data.table.standardized[model][name])
    return values


def _figure_4(data: LIAdger | None) -> Exhibit:
    title = "Figure 4: differences of people by those of each model"
    if data is None or not data.models:
        return Exhibit("figure-4", title, bring=_lacking(data, BRING_SCORES))
    charts = {f"figure-4-{_slug(name)}": draw("deltas", _evidence(data, name)) for name in data.models}
    return Exhibit("figure-4", title, {}, charts=charts, bring=_missing(data))


def _features(holdings: Holdings, number: int, kind: str) -> Exhibit:
    title = f"Figure {number}: Matthews correlation by {kind} feature of the CoLA analysis set"
    path = holdings.find(f"cola/CoLA_grammatical_annotations_{kind}_features.tsv")
    files = holdings.matching(f"scores/cola-{kind}/*.csv")
    if path is None or not files:
        return Exhibit(f"figure-{number}", title, bring=[
            f"cola/CoLA_grammatical_annotations_{kind}_features.tsv: the analysis set with a column of 0 and "
            "1 for each feature.",
            f"scores/cola-{kind}/NAME.csv for each classifier: a row for each of its sentences in order, a "
            "column of 0 and 1 for each restart.",
        ])  # fmt: skip
    sentences, features = split_features(read_table(path).reset_index(drop=True))
    labels = pd.to_numeric(sentences["label"])
    parts = []
    for file in files:
        part = mcc_by_feature(labels, _decisions(file, len(labels)), features)
        parts.append(part.assign(judge=file.stem))
    frame = pd.concat(parts, ignore_index=True)
    bars = frame.rename(columns={"feature": "group", "mcc": "value"})
    bars = bars.assign(ci_low=bars["value"] - bars["sd"], ci_high=bars["value"] + bars["sd"])
    chart = group_figure(
        bars, title=f"MCC by {kind} feature", quantity="Matthews correlation", format=".1f",
        domain=(-0.2, 1.0), notes=["Lines: one standard deviation over restarts."],
    )  # fmt: skip
    return Exhibit(
        f"figure-{number}", title, charts={f"figure-{number}": chart}, tables={f"figure-{number}-mcc": frame}
    )


def _slug(name: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())
