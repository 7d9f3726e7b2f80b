"""Plan and judgments become a release: every file as bytes, the same for the same data.

Nothing here asks the clock, a row's number in the database or the order in which the database likes
to answer; sessions are numbered within their participant and trials by their position.
"""

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from analysis.agreement.report import agreement_report
from analysis.exclusions.apply import Excluded, apply_plan
from analysis.gold.codebook import EXCLUSION_FILE, HUMAN_FILE, JUDGMENT_FILE, PAIR_FILE, SENTENCE_FILE
from analysis.gold.human_scores import human_table
from analysis.gold.tables import HUMAN_PAIR_COLUMNS, pair_table, sentence_table
from analysis.gold.writers import blimp_record, csv_bytes, json_bytes, jsonl_bytes
from analysis.releases.description import facts_of, listed, manifest_of, text_files
from analysis.releases.material_frames import pair_frame, sentence_frame
from analysis.releases.options import Options
from analysis.releases.people import participant_table
from analysis.releases.plans import find_plan, judgments_for
from analysis.releases.storage import MANIFEST, checksum
from experiments.models import Experiment
from judgments.declared import treatment_of


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
    facts = facts_of(experiment, options, plan, counts=counts, report=report, excluded=excluded)
    facts = replace(facts, n_simulated=int(people["simulated"].sum()))
    files |= text_files(facts, people_columns=tuple(people.columns))
    manifest = manifest_of(experiment, options, plan, facts=facts, report=report, background=background)
    return Built({**files, MANIFEST: json_bytes(manifest | {"files": listed(files)})}, excluded)


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
