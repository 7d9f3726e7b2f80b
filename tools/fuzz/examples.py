"""One valid request for each operation of the OpenAPI document, and identifiers that belong together."""

import random
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

import httpx

from tools.fuzz.site import Site

#: Facts by the part of an address that its identifiers belong to, the most specific first.
RESOURCES = {
    "/studies/{slug}/close/": "closing",
    "/studies/{slug}/pause/": "pausing",
    "/studies/{slug}/pilot/": "copies",
    "/studies/{slug}/rounds/": "rounds",
    "/reports/{number}": "reports",
    "/releases/{number}": "releases",
    "/scoring-runs/{id}": "runs",
    "/comparisons/{id}": "comparisons",
    "/paradigms/{language}": "paradigms",
    "/webhooks/{id}": "webhooks",
}
IDENTIFIERS = {
    "/jobs/": ("id", "jobs"),
    "/sessions/": ("token", "sessions"),
    "/material-uploads/": ("id", "material_uploads"),
    "/materials/": ("slug", "materials"),
    "/own-paradigms/": ("id", "own_paradigms"),
    "/pair-sets/": ("id", "pair_sets"),
}
#: The study that an operation needs, where a study of forced choices has nothing to answer.
STUDIES = {"ratings": "demo-likert", "ordinal": "demo-likert"}
STUDY = "demo"


@dataclass(frozen=True)
class ExampleRequest:
    """A request that has to succeed."""

    path: dict[str, Any] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    files: dict[str, tuple[str, str]] | None = None  # name of the file and its content, by field
    fields: dict[str, str] = field(default_factory=dict)  # beside files

    @property
    def content(self) -> dict[str, Any]:
        """The body as options of ``requests``, which replace a generated one."""
        if self.files is not None:
            return {"files": self.files, **({"data": self.fields} if self.fields else {})}
        return {} if self.body is None else {"json": self.body}


def example_request(site: Site, method: str, address: str) -> ExampleRequest:
    """The valid request of an operation."""
    facts = site.facts
    # The row that is deleted is not the one that all other examples name.
    path = dict(stored_rows(facts, address)[-1 if method == "DELETE" else 0]) if "{" in address else {}
    name = address.rstrip("/").rpartition("/")[2]
    if "{slug}" in address and name in STUDIES:
        path["slug"] = STUDIES[name]
    query = {"task": "likert", "effect": 0.5} if address.endswith("/v1/power/") else {}
    if address.startswith("/api/v1/sessions/"):
        path["token"] = facts["open_sessions"][0]
    if name in {"archive", "unarchive"}:  # an open study cannot be archived
        return ExampleRequest({"slug": facts["archived"]})
    if "{check}" in address:
        path["check"] = "preview"
        return ExampleRequest(path, body={"reason": "A test."} if method == "PUT" else None)
    if "/rounds/" in address:
        path["number"] = 1
    if method == "PATCH":
        bodies_of_changes: dict[str, dict[str, Any]] = {
            "/design/": {"trials_per_block": 20},
            "/material-uploads/": {"name": "Another name"},
            "/webhooks/{id}": {"events": ["release.frozen"]},
            "/own-paradigms/": {
                "text": facts["paradigm_text"].replace("own_island", "own_1") + "\n# changed\n"
            },
        }
        for part, body in bodies_of_changes.items():
            if part in address:
                return ExampleRequest(path, body=body)
        return ExampleRequest({"slug": facts["drafts"][0]}, body={"description": "Changed."})
    if method != "POST":
        return ExampleRequest(path, query)
    if name in {"scoring-runs", "score-sets"}:
        return ExampleRequest(path, files={"file": ("scores.csv", facts["scores"])})
    if name == "material-uploads":
        content = "sentence_id,sentence\na,It is.\n"
        return ExampleRequest(
            path, files={"files": ("a.csv", content)}, fields={"name": "A", "language": "en"}
        )
    if address.endswith("/studies/{slug}/preview/"):
        return ExampleRequest(path)
    bodies: dict[str, dict[str, Any]] = {
        "studies": {"title": "A study", "task": "forced_choice"},
        "deviations": {"key": facts["deviations"][0], "text": "Fewer people took part than planned."},
        "exclusion-plans": {
            "name": "finished",
            "steps": [{"name": "incomplete", "scope": "session", "rule": "incomplete"}],
        },
        "model-runs": {"models": ["arpa:./fuzz.arpa"]},
        "releases": {"title": "A release"},
        "reports": {"correction": "bh"},
        "webhooks": {"address": "https://example.org/another", "events": ["run.finished"]},
        "publications": {"account": "fuzz"},
        "preview": {"account": "fuzz"},  # of a publication
        # The part of uploads has stored the text under its own name.
        "own-paradigms": {"text": facts["paradigm_text"].replace("own_island", "own_example")},
        "lint": {"text": facts["paradigm_text"], "n": 5},
        "generate": {"paradigms": ["en:wh_island"], "n": 2},
        "study-templates": {"built_in": "likert-island"},
        "open": {"reason": "A test."},
        "pair-sets": {"name": "A set", "paradigms": ["en:wh_island"], "n": 2},
        "comparisons": {"release": facts["releases"][0]["number"], "runs": [facts["runs"][0]["id"]]},
    }
    if name == "judgments":
        bodies[name] = _answer(site, path["token"])
    return ExampleRequest(path, body=bodies.get(name))


def stored_rows(facts: dict[str, Any], address: str) -> list[dict[str, Any]]:
    """Identifiers of stored rows that an address can have together."""
    for part, name in RESOURCES.items():
        if part in address:
            return list(facts[name])
    for part, (identifier, name) in IDENTIFIERS.items():
        if part in address:
            return [{identifier: value} for value in facts[name]]
    return [{"slug": slug} for slug in sorted(facts["studies"], key=lambda slug: slug != STUDY)]


def stored_identifiers(
    facts: dict[str, Any],
    generated: dict[str, Any],
    address: str,
    *,
    method: str,
    rng: random.Random,
    linked: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Identifiers of one stored row in place of those that were generated; ``linked`` ones stay."""
    linked = linked or {}
    names = [name for _, name, _, _ in Formatter().parse(address) if name]
    if method == "PATCH" and names == ["slug"]:
        return {"slug": rng.choice(facts["drafts"] + facts["studies"]), **linked}
    rows = stored_rows(facts, address)
    # What is deleted is not what the other operations look for.
    rows = rows[len(rows) // 2 :] if method == "DELETE" else rows[: (len(rows) + 1) // 2]
    matching = [row for row in rows if all(row.get(name) == value for name, value in linked.items())]
    known = {**rng.choice(matching or rows), **linked}
    return {name: known.get(name, generated.get(name, rng.randrange(1, 50))) for name in names}


def _answer(site: Site, token: str) -> dict[str, Any]:
    """The answer to the first trial of a session."""
    plan = httpx.get(f"{site.address}/api/v1/sessions/{token}/plan/", timeout=60).raise_for_status().json()
    trial = plan["trials"][0]
    response = trial["options"][0]["id"] if trial["options"] else "1"
    return {"judgments": [{"trial": trial["id"], "response": response, "rt_ms": 900}]}
