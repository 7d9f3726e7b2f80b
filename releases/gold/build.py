"""Build a gold release: every file as bytes, identical for identical data.

Independent of the clock, of primary keys and of the database's row order: sessions are numbered within their
participant, and trials by their position.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from analysis.agreement.report import agreement_report
from analysis.exclusions.apply import Excluded, apply_plan
from analysis.gold.codebook import (
    DEVIATION_FILE,
    EXCLUSION_FILE,
    JUDGMENT_FILE,
    PAIR_FILE,
    data_package,
)
from analysis.gold.differences import difference_table
from analysis.gold.formats.registry import FORMATS, Contents
from analysis.gold.human_scores import human_table
from analysis.gold.tables import HUMAN_PAIR_COLUMNS, pair_table, sentence_table
from analysis.gold.writers import BLIMP_FIELDS, blimp_record, csv_bytes, json_bytes, jsonl_bytes
from analysis.report.deviations import deviations_paragraph
from analysis.report.methods import release_methods
from analysis.report.numbers import collection_numbers
from analysis.text import no_formula
from experiments.models import Experiment
from judgments.frames.build import tie_treatment
from judgments.frames.measurements import with_context_times
from releases.gold.describe import (
    build_manifest,
    collect_facts,
    croissant_file,
    file_columns,
    file_manifest,
    participant_table,
    text_files,
    typed_copies,
)
from releases.gold.deviations import list_deviations, published_rows
from releases.gold.options import Options
from releases.gold.plans import find_plan, judgments_for
from releases.gold.storage import MANIFEST, checksum
from releases.gold.study_facts import methods_facts
from releases.material_frames import pair_frame, score_frame, sentence_frame

#: Columns whose texts come from participants or imported files: no formulas in a release.
OF_PARTICIPANTS = ("participant", "session", "trial", "list", "response")


@dataclass(frozen=True)
class Built:
    """The files of a release, the manifest last, and the exclusions behind them."""

    files: dict[str, bytes]
    excluded: Excluded

    @property
    def sha256(self) -> str:
        """Checksum of the manifest, which contains those of all other files."""
        return checksum(self.files[MANIFEST])


def build_release(experiment: Experiment, options: Options) -> Built:
    """Every file of the release."""
    plan = find_plan(experiment, options.exclude)
    judgments = judgments_for(experiment, plan, round_number=options.round_number)
    excluded = apply_plan(judgments, plan)
    report = agreement_report(
        excluded.kept, rule=options.rule or None, ties=options.ties, experiment=experiment.slug,
        seed=options.seed, n_min=options.n_min, before=judgments, undecided=tie_treatment(experiment),
    )  # fmt: skip
    sentences, pairs, discarded = _gold(experiment, excluded.kept, report, options)
    participants, background = participant_table(experiment, judgments, excluded)
    named_judgments = rename_ids(with_context_times(judgments, experiment), excluded)
    factors = experiment.materials.levels if experiment.materials else {}
    columns = file_columns(sentences, factors, participants=tuple(participants.columns))
    if "context_ms" in named_judgments.columns:
        columns["judgments.csv"] = (*columns["judgments.csv"], "context_ms")
    records = _pair_records(pairs)
    columns["pairs.jsonl"] = tuple(records[0]) if records else columns["pairs.jsonl"]
    tables = {
        "sentences.csv": sentences,
        "judgments.csv": named_judgments,
        "participants.csv": participants.assign(participant=participants["participant"].map(no_formula)),
        "exclusions.csv": _excluded_rows(named_judgments, excluded),
        "human.csv": human_table(sentences, pairs, task=experiment.task),
        "pairs.csv": pairs,
    }
    deviations = list_deviations(experiment, options)
    rows, frozen_plan = published_rows(deviations), deviations["compared_with"]
    tables["deviations.csv"] = pd.DataFrame(rows, columns=list(DEVIATION_FILE), dtype=object)
    if factors:
        scores = score_frame(experiment)
        tables["differences.csv"] = difference_table(
            excluded.kept, factors=factors, scores=scores, sentences=sentences
        )
    files = {name: csv_bytes(table, columns[name]) for name, table in tables.items()}
    files["pairs.jsonl"] = jsonl_bytes(records)
    tables["pairs.jsonl"] = pd.DataFrame(records, columns=list(columns["pairs.jsonl"]), dtype=object)
    counts = _counts(judgments, excluded, sentences=len(sentences), pairs=len(pairs), discarded=discarded)
    facts = collect_facts(experiment, options, plan, counts=counts, report=report, excluded=excluded)
    facts = replace(
        facts,
        n_simulated=int(participants["simulated"].sum()),
        n_timed_out=judgments.loc[judgments["status"] == "timed_out", "trial"].nunique(),
    )
    written = {name: columns[name] for name in columns if name in files and len(tables[name])}
    files |= text_files(
        experiment, facts, tables=tables, columns=written, factors=factors, formats=options.format_names
    )
    package = json.loads(files["datapackage.json"])
    files |= typed_copies(files, package, records=records)
    unlisted = {name: columns[name] for name in tables if name not in written}
    files |= typed_copies(files, data_package(unlisted, name="", title="", tables=tables), records=[])
    files["croissant.json"] = croissant_file(facts, package, files)
    manifest = build_manifest(experiment, options, plan, facts=facts, report=report, background=background)
    manifest["frozen_plan"] = frozen_plan
    simulated = set(participants.loc[participants["simulated"].astype(bool), "participant"])
    numbers = collection_numbers(judgments, excluded.kept, task=experiment.task, simulated=simulated)
    files["methods.md"] = release_methods(
        methods_facts(experiment, options.round_number),
        manifest["plan"],
        numbers | {"agreement": report, "exclusions": {"flow": facts.flow}},
        deviations=deviations_paragraph(rows, frozen_plan),
        n_min=options.n_min,
        made_with=f"Obelus {facts.code_version} with seed {options.seed}",
    ).encode()
    contents = Contents(facts, package, dict(files), sentences, tables["pairs.jsonl"])
    for name in options.format_names:
        files |= FORMATS[name].write(contents)
    return Built({**files, MANIFEST: json_bytes(manifest | {"files": file_manifest(files)})}, excluded)


def _gold(
    experiment: Experiment, judgments: pd.DataFrame, report: dict[str, Any], options: Options
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Sentences and pairs with human columns, without pairs that their source marks as discarded."""
    task, n_min = experiment.task, options.n_min
    sentences = sentence_table(judgments, sentence_frame(experiment.materials), task=task, n_min=n_min)
    stored = pair_frame(experiment.materials)
    usable = stored[~stored["discard"].astype(bool)]
    pairs = pair_table(judgments, sentences, usable, task=task, n_min=n_min)
    status = {row["paradigm"]: row["status"] for row in report["paradigms"]} if options.rule else {}
    pairs["paradigm_status"] = (
        pairs["paradigm"].map(status).astype(object).where(lambda statuses: statuses.notna(), None)
    )
    return sentences, pairs, len(stored) - len(usable)


def _pair_records(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """BLiMP's ten fields, other fields of the source, then our own."""
    own_fields = (*PAIR_FILE, *HUMAN_PAIR_COLUMNS, "paradigm_status")
    records, names = [], list(pairs.columns)
    for values in zip(*(pairs[name].astype(object).tolist() for name in names), strict=True):
        row = dict(zip(names, values, strict=True))
        blimp_fields = {
            "sentence_good": row["sentence_good"],
            "sentence_bad": row["sentence_bad"],
            "linguistics_term": row["phenomenon"] or None,
            "UID": row["paradigm"] or None,
            "pairID": row["pair_id"],
        }
        source = _source_fields(row, own_fields)
        records.append(blimp_record(source, blimp_fields) | {name: row[name] for name in own_fields})
    return _with_all_fields(records, own_fields)


def _source_fields(row: Mapping[str, Any], own_fields: Sequence[str]) -> dict[str, Any]:
    """Fields of the source; one with another value under a name of ours is ``source_…``."""
    return {
        f"source_{name}" if name in own_fields else name: value
        for name, value in (row["fields"] or {}).items()
        if name not in own_fields or str(value) != str(row.get(name))
    }


def _with_all_fields(records: list[dict[str, Any]], own_fields: Sequence[str]) -> list[dict[str, Any]]:
    """Records with the same fields in the same order, since readers of JSON lines take those of the first."""
    blimp = set(BLIMP_FIELDS) | set(own_fields)
    extra = sorted({name for record in records for name in record} - blimp)
    order = [*BLIMP_FIELDS, *extra, *own_fields]
    return [{name: record.get(name) for name in order} for record in records]


def rename_ids(judgments: pd.DataFrame, excluded: Excluded) -> pd.DataFrame:
    """Judgments with session and trial names independent of the database, and the step that removed them."""
    sessions = judgments[["participant", "session"]].astype(str).drop_duplicates()
    number = sessions.groupby("participant", sort=False).cumcount() + 1
    name = dict(
        zip(sessions["session"], sessions["participant"].str.cat(number.astype(str), "."), strict=True)
    )
    session = judgments["session"].astype(str).map(name).astype(str)
    steps = dict(zip(excluded.mask["trial"].astype(str), excluded.mask["step"], strict=True))
    columns = {column: None for column in JUDGMENT_FILE if column not in judgments.columns}
    table = judgments.assign(**columns).assign(
        session=session,
        trial=session.str.cat(judgments["position"].astype(int).astype(str), "."),
        excluded_by=judgments["trial"].astype(str).map(steps).astype(object),
    )
    return table.assign(**{name: table[name].map(no_formula) for name in OF_PARTICIPANTS})


def _excluded_rows(judgments: pd.DataFrame, excluded: Excluded) -> pd.DataFrame:
    """One row per removed session, or per removed trial where the rest of the session was kept."""
    reasons = dict(zip(excluded.mask["step"], excluded.mask["reason"], strict=True))
    scopes = {step.name: step.scope for step in excluded.plan.steps}
    removed = judgments[judgments["excluded_by"].notna()].rename(columns={"excluded_by": "step"})
    is_single = removed["step"].map(scopes).eq("judgment").astype(bool)
    whole_sessions = removed[~is_single].drop_duplicates("session").assign(trial="")
    rows = pd.concat([whole_sessions, removed[is_single]]).sort_index()
    return rows.assign(reason=rows["step"].map(reasons).map(no_formula))[list(EXCLUSION_FILE)]


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
