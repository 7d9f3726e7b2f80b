"""Export a frozen version as one ZIP for a registry such as OSF: texts, lists, seeds, plans and checksums.

The same version, plans and code give the same bytes: sorted names, fixed timestamps, a SHA-256 of every file.
"""

import csv
import io
import json
import zipfile
from typing import Any

from config.version import code_version
from experiments.models import Design, ExperimentVersion, PlannedTrial, PresentationList, Sentence
from experiments.tasks.registry import shown_task
from judgments.sessions.trials import ENGINE_VERSION, PLAN_FORMAT
from releases.gold.plans import as_plan
from releases.gold.storage import checksum, zip_entry
from releases.models import ExclusionPlan

#: A return link may hold the code, or a panel's secret.
SECRETS = ("completion_code", "screen_out_code", "partial_code", "completion_url")
LEFT_OUT = "left out: knowing it is enough to claim participation"
TEXTS = ("consent", "instructions", "debrief")
TABLES = ("questionnaire", "quiz", "practice", "anchors", "catch_trials")
COLUMNS = (
    "list round position block kind item paradigm condition pair_id sentence_id "
    "expected_first first second correct"
)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
SUMS = "SHA256SUMS"


def preregistration(version: ExperimentVersion) -> bytes:
    """The ZIP of a frozen version."""
    folder = folder_name(version)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in sorted(build_files(version).items()):
            archive.writestr(zip_entry(f"{folder}/{name}"), content)
    return sink.getvalue()


def folder_name(version: ExperimentVersion) -> str:
    """Name of the folder, and of the file without its suffix."""
    return f"{version.experiment.slug}-version-{version.number}-preregistration"


def build_files(version: ExperimentVersion) -> dict[str, bytes]:
    """Every file by its name, the checksums of the others in ``SHA256SUMS``."""
    snapshot = public_snapshot(version)
    plans = list_plans(version)
    lists = list(version.lists.order_by("pk"))
    files = {
        "study.json": _json(snapshot),
        "seeds.json": _json(list_seeds(version)),
        "exclusion-plans.json": _json(plans),
        "engine.json": _json(engine_files(version)),
        **{f"texts/{name}.txt": _text(snapshot.get(name, "")) for name in TEXTS},
        **{f"texts/{name}.json": _json(snapshot.get(name, [])) for name in TABLES},
        "texts/screen.json": _json(task_parameters(snapshot)),
        **{
            f"lists/list-{number:03d}.csv": list_csv(presentation_list)
            for number, presentation_list in enumerate(lists, start=1)
        },
    }
    files["README.md"] = _text(readme(version, lists=lists, plans=plans))
    files[SUMS] = _text("".join(f"{checksum(files[name])}  {name}\n" for name in sorted(files)))
    return files


def public_snapshot(version: ExperimentVersion) -> dict[str, Any]:
    """The snapshot without the codes that prove participation."""
    return {
        name: LEFT_OUT if name in SECRETS and value else value for name, value in version.snapshot.items()
    }


def task_parameters(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Every parameter of the task: the study's value, or the default."""
    defaults = {
        parameter.name: parameter.default for parameter in shown_task(str(snapshot.get("task"))).parameters
    }
    return {**defaults, **(snapshot.get("parameters") or {})}


def list_seeds(version: ExperimentVersion) -> dict[str, Any]:
    """Seeds of the lists, and how the seed of a session is chosen."""
    design = version.snapshot.get("design") or {}
    return {
        "study": version.snapshot.get("seed"),
        "design": design.get("seed"),
        **({"rounds": [row["seed"] for row in design["rounds"]]} if design.get("rounds") else {}),
        "lists": "made from the design's seed, or from the study's where the design's is 0",
        "sessions": "48 random bits each, drawn at arrival and stored with the session",
    }


def engine_files(version: ExperimentVersion) -> dict[str, Any]:
    """The code that shows the trials."""
    return {
        "software": "Obelus",
        "code_version": code_version(),
        "trial_engine": ENGINE_VERSION,
        "plan_format": PLAN_FORMAT,
        "task": version.snapshot.get("task"),
    }


def list_plans(version: ExperimentVersion) -> list[dict[str, Any]]:
    """Every version of every exclusion plan of the study, as stored."""
    rows = ExclusionPlan.objects.filter(experiment=version.experiment).select_related("author")
    return [as_plan(row).as_dict() for row in rows.order_by("name", "version")]


def list_csv(presentation_list: PresentationList) -> bytes:
    """One list as CSV: every trial in order, with its texts."""
    related = ("item__paradigm", "sentence", "pair__good", "pair__bad", "pair__paradigm")
    trials = list(presentation_list.planned_trials.select_related(*related).order_by("position"))
    members = _members(trials)
    rows = [
        {"list": presentation_list.label, "round": presentation_list.round, **_row(trial, members)}
        for trial in trials
    ]
    further = [name for name in ORDINALS[2:] if any(name in row for row in rows)]
    out = io.StringIO()
    table = csv.DictWriter(out, [*COLUMNS.split(), *further], lineterminator="\n", restval="")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue().encode()


def _members(trials: list[PlannedTrial]) -> dict[int, Sentence]:
    """Sentences of the sets of a list."""
    keys = {pk for trial in trials for pk in trial.payload.get("sentences", ())}
    return {sentence.pk: sentence for sentence in Sentence.objects.filter(pk__in=keys)} if keys else {}


def _row(trial: PlannedTrial, members: dict[int, Sentence]) -> dict[str, Any]:
    paradigm = (trial.pair and trial.pair.paradigm) or (trial.item and trial.item.paradigm)
    return {
        "position": trial.position,
        "block": trial.block,
        "kind": trial.kind,
        "item": trial.item.key if trial.item else "",
        "paradigm": paradigm.name if paradigm else "",
        **_describe_trial(trial, members),
    }


def _describe_trial(trial: PlannedTrial, members: dict[int, Sentence]) -> dict[str, Any]:
    if {"sentences", "set"} & set(trial.payload):
        return _shown_set(trial.payload, members)
    if trial.pair or "good" in trial.payload:
        return _shown_pair(trial)
    return _shown_sentence(trial)


def _shown_set(payload: dict[str, Any], members: dict[int, Sentence]) -> dict[str, Any]:
    """The members of a set in planned order; each participant sees another order."""
    texts, best = list(payload.get("set", ())), payload.get("correct")
    sentences = [members[pk] for pk in payload.get("sentences", ())]
    displayed = [sentence.text for sentence in sentences] or texts
    return {
        "condition": "|".join(sentence.condition for sentence in sentences),
        "sentence_id": "|".join(sentence.key for sentence in sentences),
        **dict(zip(ORDINALS, displayed, strict=False)),
        "correct": "" if best is None else texts[best],
    }


def _shown_pair(trial: PlannedTrial) -> dict[str, Any]:
    """Both members in screen order; if the plan has no side, odd positions show the expected one first."""
    first = trial.position % 2 == 1 if trial.expected_first is None else trial.expected_first
    good, bad = (
        (trial.pair.good.text, trial.pair.bad.text)
        if trial.pair
        else (trial.payload["good"], trial.payload["bad"])
    )
    is_open = bool(trial.payload.get("open"))
    return {
        "condition": f"{trial.pair.good.condition}|{trial.pair.bad.condition}" if trial.pair else "",
        "pair_id": trial.pair.key if trial.pair else "",
        "expected_first": "" if is_open else str(first).lower(),
        "first": good if first else bad,
        "second": bad if first else good,
        "correct": "" if trial.pair or is_open else good,
    }


def _shown_sentence(trial: PlannedTrial) -> dict[str, Any]:
    correct = trial.payload.get("correct")
    return {
        "condition": trial.sentence.condition if trial.sentence else "",
        "sentence_id": trial.sentence.key if trial.sentence else "",
        "first": trial.sentence.text if trial.sentence else trial.payload.get("sentence", ""),
        "correct": "" if correct is None else "–".join(_decimal(end) for end in dict.fromkeys(correct)),
    }


def _decimal(value: float) -> str:
    """Without an exponent: 1000000 is not written 1e+06."""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def readme(version: ExperimentVersion, *, lists: list[PresentationList], plans: list[dict[str, Any]]) -> str:
    """Contents of the folder and how to verify them."""
    snapshot, locked = version.snapshot, [plan for plan in plans if plan["locked_before_first_response"]]
    materials = snapshot.get("materials") or {}
    has_secret = any(snapshot.get(name) for name in SECRETS)
    slug, frozen_at = version.experiment.slug, f"{version.created_at:%Y-%m-%d %H:%M} UTC"
    order_note = _order_note(snapshot)
    return f"""# {snapshot.get("title", slug)}

Version {version.number} of the study `{slug}`, frozen {frozen_at}.
SHA-256 of the version: `{version.sha256}`
Task: {snapshot.get("task")}.
Materials: {materials.get("name", "none")}, SHA-256 `{materials.get("checksum", "")}`.
Rounds: {len({row.round for row in lists}) or 1}.
Lists: {len(lists)}, of {_range([row.n_trials for row in lists])} trials.
Exclusion plans: {len(plans)}, of which {len(locked)} were written before the first answer.

| file | holds |
| --- | --- |
| `study.json` | the frozen version: texts, task and its parameters, design, checksum of the materials |
| `texts/` | the same texts, one file each, and the tables of questions, practice, anchors and catch trials |
| `texts/screen.json` | what a trial's screen says and asks: every parameter of the task, usual ones too |
| `lists/` | one CSV per list of each round: every trial, word for word, with side and condition{order_note} |
| `seeds.json` | the seeds from which the lists were made |
| `exclusion-plans.json` | who will be left out of the analysis by which rule, each with its checksum |
| `engine.json` | version of the code that shows the trials and measures response times |
| `{SUMS}` | SHA-256 of every file: `sha256sum -c {SUMS}` checks them |

{_how_to_check(has_secret)}
"""


def _order_note(snapshot: dict[str, Any]) -> str:
    """What the order of a list's file says about participants' orders."""
    if snapshot.get("design", {}).get("order") == Design.Order.PARTICIPANT:
        return "; each participant sees an order drawn from the session's seed under `design.constraints`"
    return ", in the order of all its participants"


def _how_to_check(has_secret: bool) -> str:
    """Computation of the version's checksum."""
    if has_secret:
        return (
            "Completion codes are left out of `study.json`: they are secret while people are recruited. "
            "The version's own checksum is of the document with them."
        )
    return (
        "The version's own checksum is that of `study.json` with sorted keys and no spaces: "
        "`jq -cjS . study.json | sha256sum`."
    )


def _range(numbers: list[int]) -> str:
    low, high = min(numbers, default=0), max(numbers, default=0)
    return str(low) if low == high else f"{low} to {high}"


def _json(document: Any) -> bytes:
    return _text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


def _text(text: str) -> bytes:
    return text.encode()
