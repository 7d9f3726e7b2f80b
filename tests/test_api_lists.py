"""Lists of the API: their filters, and a number of queries that does not grow with their rows."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.quality.report import LABELS
from config.api_bases import ColumnListMixin
from config.api_schema import DocumentGenerator
from experiments.models import (
    Campaign,
    GeneratedPair,
    Invitation,
    Job,
    Lab,
    LabMembership,
    Membership,
    OwnParadigm,
    PairSet,
    ParadigmVersion,
    PlatformAccount,
    ReviewLink,
    Webhook,
    WebhookDelivery,
    WordList,
    WordListVersion,
)
from judgments.models import Alert, Flag, Payment, PlatformCall, Signal, Submission
from releases.models import Comparison, ExclusionPlan, Publication, Release, ScoringRun
from releases.scoring.surprisals import SURPRISALS
from releases.study_report.request import STUDY_REPORT
from tests import api, cast
from tests.releases.study import add_sitting
from tests.routes import views

pytestmark = pytest.mark.django_db
PAGES = {"page", "page_size"}
UNFILTERED = {
    "studies/{slug}/reports/": "All of them in one answer, one for each version of the data.",
    "studies/{slug}/scoring-runs/{id}/surprisals/": "All of them in one answer, one for each regions file.",
    "study-templates/": "Those of the installation, from files.",
}
MANUAL = (Path(__file__).parent.parent / "docs/reference/api.md").read_text()
FROM_FILES = {"paradigms/", "study-templates/"}
NOW = timezone.now()


@pytest.fixture(scope="module")
def lists() -> dict[str, set[str]]:
    """Filters of every list, by address."""
    document = DocumentGenerator().get_schema(request=None, public=True)
    found = {}
    for path, item in document["paths"].items():
        responses = item.get("get", {}).get("responses", {})
        schema = responses.get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
        schema = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
        if schema.get("type") == "array" or "results" in schema.get("properties", {}):
            names = {each["name"] for each in item["get"].get("parameters", []) if each["in"] == "query"}
            found[path.removeprefix("/api/v1/")] = names - PAGES
    assert len(found) > 30
    return found


class Rows:
    """Rows for every list, all different, below one study of Ada's."""

    def __init__(self) -> None:
        self.study = cast.study("agreement", currency="GBP")
        self.lab = cast.lab("syntax", ada="manager")
        self.account = PlatformAccount.objects.create(
            platform="prolific", label="A", owner=cast.ada(), secrets=b""
        )
        self.account.experiments.add(self.study)
        fields = {
            "experiment": self.study,
            "account": self.account,
            "recruiter": "prolific",
            "state": "running",
        }
        self.campaign = Campaign.objects.create(name="first", **fields)
        self.release = Release.objects.create(
            experiment=self.study, number=1000, state="ready", sha256="0" * 64
        )
        self.run = ScoringRun.objects.create(material_set=self.study.materials, name="m", model="table:m")
        self.webhook = Webhook.objects.create(experiment=self.study, address="https://example.org/hook")
        self.pairs = PairSet.objects.create(owner=cast.ada(), name="drawn", n_each=1, drawn_at=NOW)

    def job(self, kind: str, **arguments: Any) -> Job:
        return Job.objects.create(kind=kind, experiment=self.study, state="failed", arguments=arguments)

    def add(self, n: int) -> None:
        """One row more in each list; a number makes it different."""
        ada, study, materials = cast.ada(), self.study, self.study.materials
        user = cast.user(f"member{n}")
        later = NOW + timedelta(days=1)
        Membership.objects.create(experiment=study, user=user)
        LabMembership.objects.create(lab=self.lab, user=user)
        LabMembership.objects.create(lab=Lab.objects.create(name=f"L{n}", slug=f"l{n}"), user=ada)
        sent = {"email": f"m{n}@example.org", "role": "viewer", "expires_at": later, "sent_at": NOW}
        Invitation.objects.create(experiment=study, digest=f"s{n}", **sent)
        Invitation.objects.create(lab=self.lab, digest=f"l{n}", **sent)
        ended = NOW if n == 1 else None
        ReviewLink.objects.create(
            experiment=study, label=f"r{n}", digest=f"r{n}", expires_at=later, revoked_at=ended
        )
        cast.draft(f"draft{n}", lab=self.lab)
        text = {"owner": ada, "language": "en"}
        for model, version, name in (
            (OwnParadigm, ParadigmVersion, "paradigm"),
            (WordList, WordListVersion, "word_list"),
        ):
            key = {"uid": f"own{n}"} if model is OwnParadigm else {"name": f"own{n}"}
            row = model.objects.create(
                **text, **key, **({} if "uid" in key else {"source": "s", "licence": "l"})
            )
            counts = {"n_errors": 0} if model is OwnParadigm else {"n_rows": 1}
            for number in (1, 2):
                version.objects.create(**{name: row}, number=number, text="", sha256="", **counts)
        PairSet.objects.create(owner=ada, name=f"p{n}", n_each=1, materials=materials)
        GeneratedPair.objects.create(
            pair_set=self.pairs, key=f"k{n}", paradigm="p", good="Good.", bad="Bad.", fields={}
        )
        PlatformAccount.objects.create(
            platform="prolific", label=f"B{n}", owner=ada, secrets=b""
        ).experiments.add(study)
        condition = {
            "kind": Alert.Kind.values[0],
            "title": "t",
            "text": "t",
            "address": "/",
            "raised_at": NOW,
        }
        Alert.objects.create(experiment=study, key=f"a{n}", dismissed_at=ended, **condition)
        for recruiter, account in (("prolific", self.account), ("panel", None)):
            Campaign.objects.create(
                experiment=study, recruiter=recruiter, name=f"{recruiter}{n}", account=account
            )
        session = add_sitting(study, f"p{n}")
        if n == 1:
            Flag.objects.create(participant=session.participant, reason="late")
            Signal.objects.create(session=session, name=list(LABELS)[0], reason="r", version=1, value=0)
        Submission.objects.create(
            campaign=self.campaign, external_id=f"e{n}", session=session, last_seen_at=NOW
        )
        Payment.objects.create(
            session=session,
            kind="reward",
            amount_minor=1,
            currency="GBP",
            idempotency_key=f"k{n}",
            decided_by=ada,
        )
        PlatformCall.objects.create(campaign=self.campaign, kind="publish", key=f"k{n}", currency="GBP")
        ExclusionPlan.objects.create(experiment=study, name=f"plan{n}", steps=[], author=ada)
        Release.objects.create(experiment=study, number=n, job=self.job("release"))
        Publication.objects.create(release=self.release, place="osf", target=f"t{n}")
        run = ScoringRun.objects.create(
            material_set=materials, name=f"m{n}", model="table:m", job=self.job("score")
        )
        comparison = Comparison.objects.create(release=self.release, job=self.job("compare"), created_by=ada)
        comparison.runs.add(run, self.run)
        self.job(STUDY_REPORT, options={})
        Job.objects.create(kind=SURPRISALS, key=f"s{n}", arguments={"run": self.run.pk})
        Webhook.objects.create(experiment=study, address=f"https://example.org/{n}")
        WebhookDelivery.objects.create(webhook=self.webhook, event="webhook.test", body="{}")

        extra = cast.pair(materials.paradigms.get(), f"extra{n}", good=f"More {n}.", bad=f"Less {n}.")
        extra.discard = n == 1
        extra.save()
        cast.material_set(f"other{n}", n_items=1)

    def address(self, path: str) -> str:
        """The address of a list."""
        ids = {
            "campaigns/": self.campaign.pk,
            "scoring-runs/": self.run.pk,
            "webhooks/": self.webhook.pk,
            "pair-sets/": self.pairs.pk,
        }
        slug = {"labs/": self.lab.slug, "materials/": self.study.materials.slug}
        slugs = next((value for start, value in slug.items() if path.startswith(start)), self.study.slug)
        number = next((value for part, value in ids.items() if part in path), 0)
        return path.format(slug=slugs, number=self.release.number, id=number)


@pytest.fixture
def fetch():
    token = cast.token(cast.ada())

    def rows_of(address: str) -> list[dict[str, Any]]:
        answer = api.call("get", address, token=token)
        return answer if isinstance(answer, list) else answer["results"]

    return rows_of


def test_the_number_of_queries_of_a_list_does_not_grow_with_its_rows(lists, fetch):
    rows = Rows()
    growing = {path: rows.address(path) for path in lists if path not in FROM_FILES}

    def count(address: str) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as context:
            return len(fetch(address)), len(context)

    rows.add(1)
    few = {path: count(address) for path, address in growing.items()}
    rows.add(2)
    rows.add(3)
    many = {path: count(address) for path, address in growing.items()}
    assert {path for path in growing if many[path][0] <= few[path][0]} == set()
    assert {path: (few[path], many[path]) for path in growing if many[path][1] > few[path][1]} == {}


#: Filters whose name is no field of the rows: what a value of them selects.
SELECTED = {
    ("labs/", "search"): ("l2", lambda row: row["name"] == "L2"),
    ("materials/", "search"): ("other2", lambda row: row["name"] == "other2"),
    ("own-paradigms/", "search"): ("own2", lambda row: row["uid"] == "own2"),
    ("pair-sets/", "search"): ("P2", lambda row: row["name"] == "p2"),
    ("word-lists/", "search"): ("own2", lambda row: row["name"] == "own2"),
    ("studies/", "search"): ("draft2", lambda row: row["slug"] == "draft2"),
    ("studies/{slug}/alerts/", "is_open"): ("false", lambda row: bool(row["dismissed_at"])),
    ("studies/{slug}/review-links/", "is_active"): ("false", lambda row: bool(row["revoked_at"])),
    ("studies/{slug}/comparisons/", "run"): ("1", lambda row: 1 in row["runs"]),
    ("studies/{slug}/participants/", "who"): ("p2", lambda row: row["participant"] == "p2"),
    ("studies/{slug}/participants/", "status"): ("active", lambda row: False),
    ("studies/{slug}/participants/", "signal"): (list(LABELS)[0], lambda row: bool(row["flags"])),
    ("studies/{slug}/participants/", "pay"): (
        "approved",
        lambda row: row["sessions"][0]["pay"] == "approved",
    ),
    ("studies/{slug}/participants/", "flagged"): ("true", lambda row: bool(row["flags"])),
    ("studies/{slug}/campaigns/{id}/submissions/", "decision"): ("none", lambda row: row["decision"] == ""),
}


def test_each_list_documents_filters_that_select_rows_or_has_none_for_a_reason(lists, fetch):
    rows = Rows()
    for n in (1, 2, 3):
        rows.add(n)
    assert {path for path, names in lists.items() if not names} == UNFILTERED.keys()
    for path in lists.keys() - UNFILTERED.keys():
        names = lists[path]
        address = path.replace("{", "<").replace("}", ">")
        assert f"| `{address}` | {', '.join(f'`{name}`' for name in sorted(names))} |" in MANUAL
    for path, name in ((path, name) for path, names in lists.items() for name in names):
        address = rows.address(path)
        everything = fetch(f"{address}?page_size=1000")
        if (path, name) in SELECTED:
            value, is_selected = SELECTED[path, name]
        else:
            values = [row[name] for row in everything if row[name] not in (None, "")]
            value = values[-1] if values else "other"
            is_selected = lambda row: row[name] == value  # noqa: B023, E731  # called in this turn
        sent = str(value).lower() if isinstance(value, bool) else value
        selected = fetch(f"{address}?{name}={sent}&page_size=1000")
        assert selected == [row for row in everything if is_selected(row)], (path, name, value)


def test_lists_that_are_read_as_columns_have_the_fields_of_their_serializers():
    classes = {getattr(view, "view_class", None) for _, route, view in views() if route.startswith("api/v1/")}
    by_column = [each for each in classes - {None} if issubclass(each, ColumnListMixin)]
    assert len(by_column) > 5
    for each in by_column:
        fields = each.serializer_class().fields.items()
        assert list(each.columns) == [name for name, field in fields if not field.write_only], each
