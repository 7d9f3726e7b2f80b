"""Queries whose SQL is kept yield what the queryset itself yields."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import Count, F, Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Session
from judgments.sessions.compiled_queries import Compiled
from tests import cast
from tests.judgments.screens.walk import hidden

pytestmark = pytest.mark.django_db


def test_instances_come_with_relations_annotations_and_what_was_left_out(django_assert_num_queries):
    session = cast.sit(cast.study(), n=2)

    def sessions(token):
        sessions = Session.objects.select_related("experiment", "version").defer("version__snapshot")
        return sessions.annotate(n_answered=Count("trials__judgment")).filter(token=token)

    compiled = Compiled(sessions)
    for _ in range(2):
        with django_assert_num_queries(1):
            session_row = compiled.first(session.token)
            assert (session_row, session_row.experiment.slug, session_row.n_answered) == (
                session,
                "agreement",
                2,
            )
            assert session_row.started_at == session.started_at and session_row.version.sha256
        assert session_row.version.snapshot["task"] == "forced_choice"
    assert compiled.first("another") is None


def test_values_of_every_kind_reach_the_query_each_time_anew():
    study = cast.study()
    for name in ("pia", "quentin", "rosa"):
        cast.begin(study, name)
    lists = [presentation_list.pk for presentation_list in study.lists.all()]

    def sessions(now, *lists, is_test):
        live = Session.objects.filter(lease_expires_at__gte=now, list__in=lists, is_test=is_test)
        return live.order_by("pk").values_list("participant__pseudonym", F("list_id"))

    compiled, now = Compiled(sessions), timezone.now()
    for moment in (now, now + timedelta(days=1)):
        for chosen in (lists, lists[:1], lists[1:]):
            for is_test in (False, True):
                assert compiled(moment, *chosen, is_test=is_test) == list(
                    sessions(moment, *chosen, is_test=is_test)
                )


def test_conditions_are_variants():
    cast.study("open")
    cast.study("piloted", status="pilot")
    compiled = Compiled(lambda language, where: Experiment.objects.filter(where, language=language))
    for status in ("open", "pilot"):
        assert [session_row.status for session_row in compiled("en", where=Q(status=status))] == [status]


def test_a_value_that_the_query_changes_is_refused():
    compiled = Compiled(lambda slug: Experiment.objects.filter(slug__icontains=slug))
    with pytest.raises(LookupError, match="does not reach"):
        compiled("agree")


def test_from_link_to_first_trial_and_its_plan_in_few_queries(client):
    cast.study(instructions="", n_lists=1, max_participants=50, materials=cast.material_set(n_items=40))
    at_first_trial(Client())  # frozen texts and lists are read once in a process
    with CaptureQueriesContext(connection) as captured:
        at_first_trial(client)
    ends = ("BEGIN", "COMMIT", "SAVE", "RELEASE")
    queries = [query["sql"][:120] for query in captured if not query["sql"].startswith(ends)]
    assert len(queries) <= 20, "\n".join(queries)


def at_first_trial(client):
    html = client.get("/take/agreement/").content.decode()
    sent = {"arrival": hidden(html, "arrival"), "consent": "yes"}
    address = client.post("/take/agreement/", sent)["Location"]
    page = client.get(address).content.decode()
    assert "data-trial" in page and 'id="plan"' in page
