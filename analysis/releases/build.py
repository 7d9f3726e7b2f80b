"""Plan and judgments become a release: every file as bytes, the same for the same data.

Nothing here asks the clock, a row's number in the database or the order in which the database likes
to answer; sessions are numbered within their participant and trials by their position.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd

from analysis.agreement.inclusion import parse_rule
from analysis.agreement.majority import N_MIN, TIES
from analysis.agreement.report import agreement_report
from analysis.errors import BadInput, UnknownName
from analysis.exclusions.apply import Excluded, apply_plan
from analysis.exclusions.plan import Plan
from analysis.gold.card import Facts, dataset_card, label_rule, methods_text
from analysis.gold.codebook import (
    EXCLUSION_FILE,
    HUMAN_FILE,
    JUDGMENT_FILE,
    PAIR_FILE,
    PAIR_RECORD,
    SENTENCE_FILE,
    data_package,
)
from analysis.gold.human_scores import human_table
from analysis.gold.tables import HUMAN_PAIR_COLUMNS, pair_table, sentence_table
from analysis.gold.writers import DIGITS, blimp_record, csv_bytes, json_bytes, jsonl_bytes
from analysis.releases.material_frames import pair_frame, sentence_frame
from analysis.releases.people import answered_between, participant_table
from analysis.releases.plans import find_plan, judgments_for
from analysis.releases.storage import MANIFEST, checksum
from analysis.releases.withdrawn import withdrawn_from
from config.version import code_version
from experiments.models import Experiment
from judgments.declared import treatment_of

FORMAT = "obelus-release/1"
PLAN_FIELDS = ("name", "version", "steps", "sha256", "locked_before_first_response")
FILES = {
    "pairs.jsonl": "every minimal pair with BLiMP's fields and what people said",
    "sentences.csv": "every sentence with what people said",
    "judgments.csv": "every judgment, one row each, kept or not",
    "participants.csv": "every participant as a pseudonym",
    "exclusions.csv": "what was excluded, by which step",
    "human.csv": "one human score per sentence, ready for comparing models",
    "pairs.csv": "the pairs as ids, ready for comparing models",
    "methods.md": "a methods paragraph with references",
    "datapackage.json": "the meaning of every column",
    "manifest.json": "checksums, plan, conventions, versions",
}


@dataclass(frozen=True)
class Options:
    """What a release depends on beside the data."""

    exclude: str = ""
    rule: str = ""
    ties: str = "strict"
    seed: int = 0
    n_min: int = N_MIN
    round_number: int | None = None
    """Only this round, as if it were a study of its own."""

    def __post_init__(self) -> None:
        """Refuse unknown rules before any work."""
        if self.rule:
            parse_rule(self.rule)
        if self.ties not in TIES:
            raise UnknownName("tie rule", self.ties, TIES)
        if self.n_min < 1:
            raise BadInput("n_min must be at least 1.", column="n_min", remedy="Give a whole number from 1.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as stored; what covers all rounds says nothing of them."""
        return {name: value for name, value in asdict(self).items() if name != "round_number" or value}


@dataclass(frozen=True)
class Built:
    """The files of a release, the manifest last, and the exclusions behind them."""

    files: dict[str, bytes]
    excluded: Excluded

    @property
    def sha256(self) -> str:
        """Of the manifest, which holds the checksum of every other file."""
        return checksum(self.files[MANIFEST])


def build_release(experiment: Experiment, options: Options) -> Built:
    """Every file of the release."""
    plan = find_plan(experiment, options.exclude)
    judgments = judgments_for(experiment, plan, round_number=options.round_number)
    excluded = apply_plan(judgments, plan)
    report = agreement_report(
        excluded.kept, rule=options.rule or None, ties=options.ties, experiment=experiment.slug,
        seed=options.seed, n_min=options.n_min, before=judgments, undecided=treatment_of(experiment),
    )  # fmt: skip
    sentences, pairs, discarded = _gold(experiment, excluded.kept, report, options)
    people, background = participant_table(experiment, judgments, excluded)
    shown = renamed(judgments, excluded)
    files = {
        "pairs.jsonl": jsonl_bytes(_pair_records(pairs)),
        "sentences.csv": csv_bytes(sentences, SENTENCE_FILE),
        "judgments.csv": csv_bytes(shown, JUDGMENT_FILE),
        "participants.csv": csv_bytes(people, tuple(people.columns)),
        "exclusions.csv": csv_bytes(_excluded_rows(shown, excluded), EXCLUSION_FILE),
        "human.csv": csv_bytes(human_table(sentences, pairs, task=experiment.task), HUMAN_FILE),
        "pairs.csv": csv_bytes(pairs, PAIR_FILE),
    }
    counts = _counts(judgments, excluded, sentences=len(sentences), pairs=len(pairs), discarded=discarded)
    facts = _facts(experiment, options, plan, counts=counts, report=report, excluded=excluded)
    facts = replace(facts, n_simulated=int(people["simulated"].sum()))
    files |= _texts(facts, files, people_columns=tuple(people.columns))
    manifest = _manifest(experiment, options, plan, facts=facts, report=report, background=background)
    return Built({**files, MANIFEST: json_bytes(manifest | {"files": _listed(files)})}, excluded)


def _gold(
    experiment: Experiment, kept: pd.DataFrame, report: dict[str, Any], options: Options
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Sentences and pairs with human columns; pairs that their source marks as discarded stay out."""
    task, n_min = experiment.task, options.n_min
    sentences = sentence_table(kept, sentence_frame(experiment.materials), task=task, n_min=n_min)
    stored = pair_frame(experiment.materials)
    usable = stored[~stored["discard"].astype(bool)]
    pairs = pair_table(kept, sentences, usable, task=task, n_min=n_min)
    status = {row["paradigm"]: row["status"] for row in report["paradigms"]} if options.rule else {}
    pairs["paradigm_status"] = (
        pairs["paradigm"].map(status).astype(object).where(lambda word: word.notna(), None)
    )
    return sentences, pairs, len(stored) - len(usable)


def _pair_records(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """BLiMP's ten fields, other fields of the source, then ours."""
    ours = (*PAIR_FILE, *HUMAN_PAIR_COLUMNS, "paradigm_status")
    records = []
    for row in pairs.astype(object).to_dict("records"):
        known = {
            "sentence_good": row["sentence_good"],
            "sentence_bad": row["sentence_bad"],
            "linguistics_term": row["phenomenon"] or None,
            "UID": row["paradigm"] or None,
            "pairID": row["pair_id"],
        }
        source = {name: value for name, value in (row["fields"] or {}).items() if name not in ours}
        records.append(blimp_record(source, known) | {name: row[name] for name in ours})
    return records


def renamed(judgments: pd.DataFrame, excluded: Excluded) -> pd.DataFrame:
    """Judgments under names that do not depend on the database, with the step that removed them."""
    sessions = judgments[["participant", "session"]].astype(str).drop_duplicates()
    number = sessions.groupby("participant", sort=False).cumcount() + 1
    name = dict(
        zip(sessions["session"], sessions["participant"].str.cat(number.astype(str), "."), strict=True)
    )
    session = judgments["session"].astype(str).map(name).astype(str)
    steps = dict(zip(excluded.mask["trial"].astype(str), excluded.mask["step"], strict=True))
    columns = {column: None for column in JUDGMENT_FILE if column not in judgments.columns}
    return judgments.assign(**columns).assign(
        session=session,
        trial=session.str.cat(judgments["position"].astype(int).astype(str), "."),
        excluded_by=judgments["trial"].astype(str).map(steps).astype(object),
    )


def _excluded_rows(shown: pd.DataFrame, excluded: Excluded) -> pd.DataFrame:
    """One row per removed session, or per removed trial where the rest of the session was kept."""
    reasons = dict(zip(excluded.mask["step"], excluded.mask["reason"], strict=True))
    scopes = {step.name: step.scope for step in excluded.plan.steps}
    gone = shown[shown["excluded_by"].notna()].rename(columns={"excluded_by": "step"})
    single = gone["step"].map(scopes).eq("judgment").astype(bool)
    whole = gone[~single].drop_duplicates("session").assign(trial="")
    rows = pd.concat([whole, gone[single]]).sort_index()
    return rows.assign(reason=rows["step"].map(reasons))[list(EXCLUSION_FILE)]


def _counts(
    judgments: pd.DataFrame, excluded: Excluded, *, sentences: int, pairs: int, discarded: int
) -> dict[str, int]:
    flow = excluded.flow_rows()
    first, last = flow[0], flow[-1]
    return {
        "participants": first["participants_left"],
        "participants_kept": last["participants_left"],
        "sessions": first["sessions_left"],
        "judgments": first["judgments_left"],
        "judgments_kept": last["judgments_left"],
        "sentences": sentences,
        "pairs": pairs,
        "pairs_discarded": discarded,
    }


def _facts(
    experiment: Experiment,
    options: Options,
    plan: Plan,
    *,
    counts: dict[str, int],
    report: dict[str, Any],
    excluded: Excluded,
) -> Facts:
    materials = experiment.materials
    first, last = answered_between(experiment, options.round_number)
    return Facts(
        slug=experiment.slug,
        title=experiment.title,
        task=experiment.task,
        language=materials.language if materials else experiment.language,
        code_version=code_version(),
        seed=options.seed,
        exclusions=_plan_words(plan),
        ties=options.ties,
        n_min=options.n_min,
        description=experiment.description,
        licence=materials.licence if materials else "",
        source=materials.source if materials else "",
        materials=materials.name if materials else "",
        rule=report["rule"] or "",
        first_answer=first,
        last_answer=last,
        counts=counts,
        flow=excluded.flow_rows(),
        agreement={name: report[name] for name in ("overall", "overall_included")},
        undecided=(report["undecided"] or {}).get("statement", ""),
    )


def _plan_words(plan: Plan) -> str:
    if not plan.steps:
        return ""
    steps = ", ".join(step.name for step in plan.steps)
    if not plan.created_at:  # built-in steps, not a stored plan
        return f"the built-in steps {steps}"
    when = ", fixed before the first response" if plan.locked_before_first_response else ""
    return f"plan {plan.name}, version {plan.version} (steps: {steps}{when})"


def _texts(facts: Facts, files: dict[str, bytes], *, people_columns: tuple[str, ...]) -> dict[str, bytes]:
    columns = {
        "pairs.jsonl": PAIR_RECORD,
        "sentences.csv": SENTENCE_FILE,
        "judgments.csv": JUDGMENT_FILE,
        "participants.csv": people_columns,
        "exclusions.csv": EXCLUSION_FILE,
        "human.csv": HUMAN_FILE,
        "pairs.csv": PAIR_FILE,
    }
    package = data_package(columns, name=facts.slug, title=facts.title, licence=facts.licence)
    return {
        "datapackage.json": json_bytes(package),
        "README.md": dataset_card(facts, list(FILES.items())).encode(),
        "methods.md": methods_text(facts).encode(),
    }


def _manifest(
    experiment: Experiment,
    options: Options,
    plan: Plan,
    *,
    facts: Facts,
    report: dict[str, Any],
    background: list[str],
) -> dict[str, Any]:
    stored = plan.as_dict()
    materials = experiment.materials
    versions = experiment.versions.filter(is_preview=False).order_by("number")
    return {
        "format": FORMAT,
        "experiment": experiment.slug,
        "title": experiment.title,
        "task": experiment.task,
        "versions": list(versions.values_list("sha256", flat=True)),
        "materials": {"name": materials.name, "checksum": materials.checksum} if materials else None,
        "plan": {name: stored[name] for name in PLAN_FIELDS},
        "flow": list(facts.flow),
        "options": options.as_dict(),
        "seed": options.seed,
        "code_version": facts.code_version,
        "counts": facts.counts,
        "answered": {"first": facts.first_answer or None, "last": facts.last_answer or None},
        "published_background": background,
        "withdrawn": withdrawn_from(experiment),
        "agreement": facts.agreement,
        "conventions": report["conventions"] | {
            "label": label_rule(experiment.task),
            "z": "participant, ddof 1, target and filler trials, at least 4 ratings, constant raters out",
            "computed_numbers": f"{DIGITS} significant digits",
            "raw_numbers": "shortest text that reads back equal",
        },
    }  # fmt: skip


def _listed(files: dict[str, bytes]) -> list[dict[str, Any]]:
    return [
        {"path": name, "bytes": len(content), "sha256": checksum(content)}
        for name, content in sorted(files.items())
    ]
