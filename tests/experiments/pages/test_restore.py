"""Undo of the last change of settings, restored entries of the history, and errors listed on top."""

import re

import pytest

from experiments.models import AuditEntry, Experiment
from tests import cast

pytestmark = pytest.mark.django_db
SETTINGS = "/studies/agreement/settings/"


@pytest.fixture
def study():
    return cast.draft("agreement", task="likert", parameters={"points": 7})


def save(client, step, **changes):
    """Send a page of the settings as a browser does, with some fields changed."""
    form = client.get(f"{SETTINGS}{step}/").context
    values = {field.html_name: field.value() for field in [*form["form"], *form["parameters"]]}
    data = {name: value for name, value in values.items() if value is not None and value is not False}
    return client.post(SETTINGS, {**data, "step": step, "version": form["version"], **changes}, follow=True)


def press(client, page, **data):
    """Press the first button that restores, on a page."""
    address = re.search(r'action="(/studies/agreement/history/\d+/restore/)"', page.content.decode())
    return client.post(address[1], data, follow=True)


def test_the_last_change_is_undone_and_the_undo_too(ada, study):
    page = save(ada, "texts", consent="Another consent.")
    assert "Undo the last change" in page.content.decode()
    page = press(ada, page, **{"from": "settings"})
    study.refresh_from_db()
    assert study.consent == "You may stop at any time." and "Restored: consent." in page.content.decode()
    press(ada, page)
    study.refresh_from_db()
    assert study.consent == "Another consent."
    assert study.audit.filter(action="settings restored").count() == 2


def test_any_entry_of_the_history_gives_back_its_old_values(ada, study):
    save(ada, "texts", consent="Second.")
    save(ada, "texts", consent="Third.")
    save(ada, "task", **{"task-points": "5"})
    study.refresh_from_db()
    assert study.parameters["points"] == 5
    first = study.audit.filter(action="settings changed").order_by("at", "pk").first()
    ada.post(f"/studies/agreement/history/{first.pk}/restore/")
    study.refresh_from_db()
    assert (study.consent, study.parameters["points"]) == ("You may stop at any time.", 5)
    last = study.audit.order_by("-at", "-pk").filter(action="settings changed").first()
    page = ada.post(f"/studies/agreement/history/{last.pk}/restore/", follow=True)
    study.refresh_from_db()
    assert study.parameters["points"] == 7 and "Restored: task points." in page.content.decode()


def test_values_that_no_longer_fit_are_not_restored(ada, study):
    save(ada, "checks", catch_trials="The cat sleep. | 7")
    save(ada, "checks", catch_trials="")
    save(ada, "task", **{"task-points": "5"})
    entry = study.audit.filter(details__fields="catch_trials").order_by("-at", "-pk").first()
    page = ada.post(f"/studies/agreement/history/{entry.pk}/restore/", follow=True)
    study.refresh_from_db()
    assert study.catch_trials == [] and "Nothing was restored" in page.content.decode()


def test_readers_and_other_entries_are_refused(client, ada, study):
    entry = AuditEntry.objects.create(
        experiment=study, action="pilot", details={"from": "draft", "to": "pilot"}
    )
    assert ada.post(f"/studies/agreement/history/{entry.pk}/restore/").status_code == 404
    save(ada, "texts", consent="Another consent.")
    entry = study.audit.get(action="settings changed")
    client.force_login(cast.ben())
    assert client.post(f"/studies/agreement/history/{entry.pk}/restore/").status_code == 403
    assert "Restore the old values" not in client.get("/studies/agreement/history/").content.decode()
    assert Experiment.objects.get().consent == "Another consent."


def test_errors_are_listed_on_top_with_links_to_their_fields(ada, study):
    page = save(ada, "end", completion_url="not an address", completion="redirect").content.decode()
    assert "Nothing was saved: 1 error" in page and 'href="#id_completion_url"' in page
    assert save(ada, "texts", onward="yes").content.decode().count("Nothing was changed") == 0
