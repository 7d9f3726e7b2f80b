"""Published data sets as evidence for figures; they lie beside the project, when they do."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.exclusions.plan import Plan, Step, parse_plan
from analysis.figures import Evidence
from analysis.ngrams import token_logprobs, train_model
from judgments.imports.readers import read_judgments

Locate = Callable[[str], Path]
GROUPS = (
    ("island", "island effects"),
    ("npi|only_|sentential_negation|matrix_question", "NPI licensing"),
    ("agreement|irregular_plural|regular_plural", "agreement"),
    ("wh_", "filler-gap dependency"),
    ("principle_A|anaphor", "binding and anaphors"),
    ("there|raising|tough|expletive", "control and raising"),
    ("quantifier", "quantifiers"),
)


def blimp(locate: Locate) -> Evidence:
    """BLiMP's validation batch: forced choice, with attention checks and rejected assignments."""
    raw = pd.read_csv(locate("blimp/human_responses.csv"))
    parts = []
    for k in range(1, 6):
        cell = raw[f"Input.item_{k}_condition"].str.extract(r"^(?P<paradigm>.*)ans(?P<good>[12])$")
        chosen = raw[f"Answer.Choice{k}"].str.extract(r"^([12])\.")[0]
        right = (chosen == cell["good"]).astype(float).where(chosen.notna())
        parts.append(
            pd.DataFrame({
                "participant": raw["anonCode"], "session": raw["AssignmentId"],
                "submission_status": raw["AssignmentStatus"].str.lower(), "position": k,
                "kind": cell["paradigm"].eq("attnchk").map({True: "catch", False: "target"}),
                "paradigm": cell["paradigm"], "phenomenon": cell["paradigm"].map(_group),
                "item": cell["paradigm"] + " " + raw[f"Input.field_{k}_1"],
                "task": "forced_choice", "value": right,
                "expected_first": cell["good"] == "1", "correct": right.astype(object), "native": True,
            })
        )  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    plan = Plan("blimp", parse_plan("rejected,catch_failed").steps)
    pairs, scores = _blimp_models(locate)
    return Evidence(judgments=rows, plan=plan, by="paradigm", pairs=pairs, scores=scores)


def _group(paradigm: str) -> str:
    return next((name for pattern, name in GROUPS if re.search(pattern, paradigm)), "argument structure")


def _blimp_models(locate: Locate) -> tuple[pd.DataFrame, pd.DataFrame]:
    pairs, text = [], {}
    for path in sorted(locate("blimp").glob("*.jsonl")):
        for line in path.read_text().splitlines()[:100]:
            pair = json.loads(line)
            name = f"{pair['UID']}-{pair['pairID']}"
            text |= {f"{name}-good": pair["sentence_good"], f"{name}-bad": pair["sentence_bad"]}
            pairs.append((name, f"{name}-good", f"{name}-bad", pair["UID"], pair["linguistics_term"]))
    columns = ["pair_id", "good_id", "bad_id", "paradigm", "phenomenon"]
    return pd.DataFrame(pairs, columns=columns), _scores(locate, text)


def ssa(locate: Locate) -> Evidence:
    """The random sample of Linguistic Inquiry of Sprouse, Schütze & Almeida 2013: Likert, 150 pairs."""
    raw = pd.read_csv(locate("ssa2013-likert/LI.ls.results.csv"), encoding="mac_roman", skiprows=5)
    raw = raw.rename(
        columns={"judgment": "value", "item": "sentence_id", "order": "position", "survey": "list"}
    )
    pairs = pd.read_csv(locate("ssa2013-likert/LI.conditions.csv"))
    sides = [
        pairs[name].map(lambda text: re.sub(r"\.\d+$", "", text)).to_frame("condition").assign(
            expected=word, phenomenon=[f"{re.sub(r'[.][0-9]+$', '', good)}" for good in pairs["good"]]
        )
        for name, word in (("good", "acceptable"), ("bad", "unacceptable"))
    ]  # fmt: skip
    conditions = pd.concat(sides).drop_duplicates("condition")
    rows = raw.merge(conditions, on="condition", how="left").fillna({"expected": "", "phenomenon": ""})
    rows = rows.assign(
        item=rows["sentence_id"].str[-2:], task="likert", scale_low=1, scale_high=7,
        kind=np.where(rows["expected"] == "", "filler", "target"),
    )  # fmt: skip
    return Evidence(
        judgments=rows, plan=Plan("long", [Step("incomplete", "participant", "too_few", {"minimum": 20})])
    )


def islands(locate: Locate) -> Evidence:
    """Experiment 1 of Sprouse, Wagers & Phillips 2012: Likert, four islands in 2×2 designs."""
    raw = pd.read_csv(locate("swp2012-exp1/SWP.EXP1.results.csv"))
    raw = raw.rename(columns={"subject": "participant", "raw.judgment": "value"})
    names = {"wh": "whether", "np": "complex NP", "sub": "subject", "adj": "adjunct"}
    island = raw["subdesign"].map(names)
    bad = (raw["structure"] == "island") & (raw["distance"] == "embedded")
    sets = raw["item"].str.extract(r"\.(\d+)\.")[0].fillna("")
    rows = raw.assign(
        task="likert", scale_low=1, scale_high=7, kind=np.where(island.notna(), "target", "filler"),
        phenomenon=island.fillna(""), paradigm=island.fillna(""), sentence_id=raw["item"], item=sets,
        condition=island.fillna("") + ", " + raw["structure"] + ", " + raw["distance"],
        expected=np.where(island.isna(), "", np.where(bad, "unacceptable", "acceptable")),
    )  # fmt: skip
    steps = parse_plan("too_few,signal:leave_one_out,signal:straight_lining").steps
    return Evidence(judgments=rows, plan=Plan("careful", steps, version=2))


def that_trace(locate: Locate) -> Evidence:
    """Sliders from 0 to 1 on that-trace sentences, with practice trials."""
    raw = pd.read_csv(locate("slider-that-trace/thattracenewfull-trials.csv"))
    number = raw["sentence_id"].fillna(0).astype(int)
    cells = {1: "subject, that", 2: "subject, null", 3: "object, that", 4: "object, null"}
    target = (number > 0) & (number < 8000)
    rows = pd.DataFrame({
        "participant": raw["workerid"].astype(str), "task": "slider", "value": raw["response"],
        "scale_low": 0.0, "scale_high": 1.0, "position": raw["trial_sequence_total"],
        "kind": np.select([number == 0, target], ["practice", "target"], default="filler"),
        "sentence_id": number.astype(str), "item": number.astype(str).str[:-1],
        "condition": np.where(target, (number % 10).map(cells), np.where(number < 9000, "good", "bad")),
        "phenomenon": "that-trace", "paradigm": "that-trace",
        "expected": np.where(~target, "", np.where(number % 10 == 1, "unacceptable", "acceptable")),
    })  # fmt: skip
    return Evidence(
        judgments=rows, plan=Plan("twenty", [Step("few", "participant", "too_few", {"minimum": 14})])
    )


def mega(locate: Locate) -> Evidence:
    """MegaAcceptability: a quarter of a million Likert ratings, five of each sentence."""
    raw = pd.read_csv(locate("mega-acceptability-v1/mega-acceptability-v1.tsv.gz"), sep="\t")
    item = raw["verb"].astype("category")
    rows = pd.DataFrame({
        "participant": raw["participant"].astype(str).astype("category"), "list": raw["list"].astype(str),
        "position": raw["presentationorder"], "task": "likert", "value": raw["response"],
        "scale_low": 1, "scale_high": 7, "item": item, "condition": raw["frame"].astype("category"),
        "sentence_id": (raw["verb"] + " " + raw["frame"]).astype("category"), "native": raw["nativeenglish"],
    })  # fmt: skip
    return Evidence(judgments=rows, plan=parse_plan("not_native"))


def li_adger(locate: Locate) -> Evidence:
    """LI-Adger: published mean z of magnitude estimates, beside a trigram and the length."""
    human = pd.read_csv(locate("li-adger/human_ME_results_li-adger_sentences.csv"))
    pairs = pd.read_csv(locate("li-adger/li-adger_min_pairs.csv"))
    pairs = pairs[pairs["discard"] != "X"].reset_index(drop=True)
    text = dict(zip(human["id"], human["sentence"].fillna(""), strict=True))
    pair_table = pd.DataFrame({
        "pair_id": [f"p{number:04}" for number in pairs.index],
        "good_id": pairs["gramm_id"], "bad_id": pairs["ungramm_id"],
        "phenomenon": pairs["phenomenon"].fillna(""),
    })  # fmt: skip
    people = human.rename(columns={"id": "sentence_id", "judgement": "score"})[["sentence_id", "score"]]
    return Evidence(human=people, pairs=pair_table, scores=_scores(locate, text), sentences=text)


def portuguese(locate: Locate) -> Evidence:
    """A PCIbex file with response times: Likert, Brazilian Portuguese."""
    path = locate("pcibex-ajt-ptbr/results_prod.csv")
    judgments = read_judgments(path, "pcibex")
    sessions = judgments.sessions.set_index("session")["participant"]
    rows = judgments.judgments.assign(task="likert")
    rows = rows.assign(participant=rows["session"].map(sessions), n_characters=rows["text"].str.len())
    return Evidence(judgments=rows, plan=parse_plan("incomplete,signal:speed"))


def _scores(locate: Locate, text: dict[str, str]) -> pd.DataFrame:
    """A trigram trained on WikiText-2, its mean per word, and the shorter sentence."""
    lines = [
        line.lower().replace("<unk>", "unk").split()
        for line in locate("wikitext-2/valid.txt").read_text().splitlines()
    ]
    model = train_model([line for line in lines if line], order=3)
    words = [re.findall(r"\w+|[^\w\s]", sentence.lower()) or ["."] for sentence in text.values()]
    logprobs = token_logprobs(model, words)
    total = np.bincount(logprobs.sentence, weights=logprobs.logprob, minlength=len(words))
    size = np.array([len(sentence) for sentence in words])
    return pd.DataFrame(
        {
            "sentence_id": list(text),
            "trigram": total,
            "trigram per word": total / (size + 1),
            "shortness": -size,
        }
    )


SETS = {
    "blimp": blimp,
    "ssa": ssa,
    "islands": islands,
    "that-trace": that_trace,
    "mega": mega,
    "li-adger": li_adger,
    "portuguese": portuguese,
}
