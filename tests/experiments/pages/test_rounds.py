"""Further rounds on the design page: added, changed, refused, started, taken away."""

import pytest

from experiments.models import AuditEntry, Design
from experiments.studies.lifecycle import open_study
from tests import cast

pytestmark = pytest.mark.django_db
DESIGN = "/studies/two/design/"


@pytest.fixture
def study(client):
    materials = cast.material_set("two", n_items=4, paradigms=("ba", "bei"))
    experiment = cast.draft("two", materials=materials)
    Design.objects.create(experiment=experiment, kind="sample", items_per_paradigm=2, n_lists=2, seed=3)
    client.force_login(cast.ada())
    return experiment


def page(client):
    return client.get(DESIGN).content.decode()


def sent(number=2, **changes):
    row = {
        "kind": "sample",
        "n_lists": 2,
        "items_per_paradigm": 1,
        "items": "new",
        "without": "",
        "participants": "same",
        "target_judgments": 16,
        "max_participants": "",
        "seed": 7,
    }
    return {f"round-{number}-{name}": value for name, value in {**row, **changes}.items()}


def test_a_round_is_added_like_the_first_and_then_changed(client, study):
    client.post(f"{DESIGN}rounds/")
    added = Design.objects.get().rounds[0]
    assert (added["items"], added["seed"], added["items_per_paradigm"]) == ("new", 4, 2)
    assert "Balance of round 2" in page(client)
    client.post(f"{DESIGN}rounds/2/", sent(without="bei\n"))
    stored = Design.objects.get().rounds[0]
    assert (stored["without"], stored["target_judgments"], stored["max_participants"]) == (["bei"], 16, None)
    html = page(client)
    assert "No sentence or pair of an earlier round is shown again" in html and "?list=R2-1" in html
    assert "List R2-1, in one of its orders" in client.get(f"{DESIGN}?list=R2-1").content.decode()
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {"round added", "round saved"}


def test_a_round_that_makes_no_lists_is_explained_with_its_number(client, study):
    client.post(f"{DESIGN}rounds/")
    client.post(f"{DESIGN}rounds/2/", sent(without="bai"))
    assert "Round 2: there is no paradigm &#x27;bai&#x27; to exclude" in page(client)


def test_what_cannot_be_a_round_is_not_stored(client, study):
    client.post(f"{DESIGN}rounds/")
    before = Design.objects.get().rounds
    answer = client.post(f"{DESIGN}rounds/2/", sent(n_lists=0, seed=""))
    assert answer.status_code == 200 and Design.objects.get().rounds == before
    assert answer.content.decode().count("errorlist") == 2
    assert client.post(f"{DESIGN}rounds/3/", sent(3)).status_code == 404


def test_a_round_is_started_and_then_stays(client, study):
    client.post(f"{DESIGN}rounds/")
    client.post(f"{DESIGN}rounds/")
    client.post(f"{DESIGN}rounds/2/start/")
    study.refresh_from_db()
    assert study.current_round == 1  # a draft
    open_study(study, cast.ada())
    client.post(f"{DESIGN}rounds/2/start/")
    study.refresh_from_db()
    assert study.current_round == 2 and "Let round 1 take participants again" in page(client)
    live = client.get(DESIGN.replace("design/", "live/")).content.decode()
    assert "are of all rounds" in live and "<small>of all rounds</small>" in live
    client.post(f"{DESIGN}rounds/2/remove/")
    assert len(Design.objects.get().rounds) == 2
    client.post(f"{DESIGN}rounds/3/remove/")
    assert len(Design.objects.get().rounds) == 1


def test_viewers_read_rounds_and_change_nothing(client, study):
    client.post(f"{DESIGN}rounds/")
    client.force_login(cast.ben())
    html = page(client)
    assert "Round 2" in html and "Save round 2" not in html and "Add a round" not in html
    for address in ("rounds/", "rounds/2/", "rounds/2/remove/", "rounds/2/start/"):
        assert client.post(f"{DESIGN}{address}", sent()).status_code == 403
    client.force_login(cast.cleo())
    assert client.post(f"{DESIGN}rounds/").status_code == 404


def test_order_fillers_and_anchors_are_chosen_on_the_page(client, study):
    cast.material_set("fillers", n_items=8)
    form = {
        "kind": "latin_square",
        "n_lists": 2,
        "catch_per_list": 0,
        "trials_per_block": 50,
        "seed": 1,
        "paradigm_distance": 2,
        "fillers_between": 1,
        "filler_ratio": 1,
        "anchor_order": "random",
        "order": "list",
        "filler_materials": cast.MaterialSet.objects.get(slug="fillers").pk,
    }
    client.post(DESIGN, form)
    stored = Design.objects.get()
    assert stored.constraints == {"min_distance": {"paradigm": 2}, "fillers_between": 1}
    orders = (stored.anchor_order, stored.order)
    assert (stored.filler_ratio, *orders, stored.filler_materials.slug) == (1, "random", "list", "fillers")
    html = page(client)
    assert "Every list has the same fillers" in html and "does not hold" not in html
    client.post(DESIGN, form | {"fillers_between": 3})
    assert "8 fillers are too few to put 3 between any two of 8 targets: 21 are needed" in page(client)
    assert client.post(DESIGN, form | {"filler_ratio": -1}).status_code == 200
    assert Design.objects.get().filler_ratio == 1


def test_material_sets_of_strangers_are_no_fillers(client, study):
    materials = cast.material_set("secret", n_items=2)
    materials.owner = cast.cleo()
    materials.save()
    assert "secret" not in page(client)
