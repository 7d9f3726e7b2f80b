"""Magnitude estimates of zero: every result that may take logarithms counts them and takes the choice."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from experiments.models import Experiment
from tests import cast

pytestmark = pytest.mark.django_db
N_ZEROS = 3
SAYS = f"{N_ZEROS} estimates of zero by {N_ZEROS} participants"


@pytest.fixture
def study(tmp_path):
    """Ten items in two conditions; three of eight participants gave the first sentence a zero."""
    rows = [
        f"p{person},{item},{condition},{item} {condition},{expected},{value(person, item, condition)}"
        for person in range(8)
        for item in range(1, 11)
        for condition, expected in (("good", "acceptable"), ("bad", "unacceptable"))
    ]
    path = tmp_path / "magnitudes.csv"
    path.write_text("\n".join(["participant,item,condition,sentence,expected,value", *rows]) + "\n")
    call_command(
        "import_judgments", path, experiment="sizes", format="table", task="magnitude_estimation",
        owner=cast.ada().username, stdout=StringIO(),
    )  # fmt: skip
    return Experiment.objects.get()


def value(person, item, condition):
    if person < N_ZEROS and item == 1 and condition == "bad":
        return 0
    return (100 if condition == "good" else 40) + 7 * item + 3 * person + (person * item) % 11


def report_of(command, *options):
    out = StringIO()
    call_command(*command.split(), *options, "--json", stdout=out)
    return json.loads(out.getvalue())


COMMANDS = ("ratings sizes", "effects sizes", "reliability sizes", "exclusions sizes",
            "power resample --study sizes --draws 20 --participants 4")  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_counts_zeros_and_leaves_them_out_where_asked(study, command):
    default = report_of(command)["magnitudes"]
    assert (default["zeros"], default["zeros_are"], default["left_out"]) == (N_ZEROS, "kept", 0)
    logs = report_of(command, "--transform", "z-log")["magnitudes"]
    assert (logs["zeros_are"], logs["left_out"]) == ("left out", N_ZEROS)
    without = report_of(command, "--zeros", "leave-out")
    assert (without["magnitudes"]["zeros_are"], without["magnitudes"]["left_out"]) == ("left out", N_ZEROS)
    out = StringIO()
    call_command(*command.split(), stdout=out)
    assert f"{SAYS}: kept" in out.getvalue()


def test_zeros_left_out_change_reliability_and_effects(study):
    for command in ("reliability sizes", "effects sizes --by phenomenon"):
        with_zeros, without = report_of(command), report_of(command, "--zeros", "leave-out")
        changed = [name for name in with_zeros if name != "magnitudes" and with_zeros[name] != without[name]]
        assert changed, command


@pytest.mark.parametrize("name", ["ratings", "effects", "reliability"])
def test_every_page_counts_zeros_and_offers_the_choice(ada, study, name):
    address = reverse(f"study-{name}", args=["sizes"])
    page = " ".join(ada.get(address).content.decode().split())
    assert SAYS in page and "Estimates of zero" in page
    page = " ".join(ada.get(address, {"zeros": "leave-out"}).content.decode().split())
    assert f"{SAYS}: left out" in page
    exported = ada.get(reverse(f"study-{name}-json", args=["sizes"]), {"zeros": "leave-out"}).json()
    assert exported["magnitudes"]["left_out"] == N_ZEROS


def test_other_tasks_are_not_asked_about_zeros(ada):
    study = cast.study("points", task="likert")
    assert "Estimates of zero" not in ada.get(reverse("study-ratings", args=[study.slug])).content.decode()


def test_the_api_takes_the_choice(study):
    api = APIClient()
    api.force_authenticate(cast.ada())
    for name in ("ratings", "effects", "reliability"):
        answer = api.get(f"/api/v1/studies/sizes/{name}/", {"zeros": "leave-out"})
        assert answer.json()["magnitudes"]["left_out"] == N_ZEROS
        assert api.get(f"/api/v1/studies/sizes/{name}/", {"zeros": "drop"}).status_code == 400


def test_the_download_shows_how_many_zeros_have_no_logarithm(ada, study):
    page = " ".join(ada.get(reverse("study-downloads", args=["sizes"])).content.decode().split())
    assert f"{N_ZEROS} estimates of zero: kept in" in page
    rows = b"".join(ada.get(reverse("api-judgments-csv", args=["sizes"])).streaming_content).decode()
    assert rows.count("\n") == 161


def test_items_are_in_natural_order(study):
    items = [row["item"] for row in report_of("ratings sizes")["items"]]
    assert list(dict.fromkeys(items)) == [str(number) for number in range(1, 11)]
