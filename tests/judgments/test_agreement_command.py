"""``agreement`` and ``ratings`` on stored studies: published numbers, exclusions, bad names."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from experiments.models import Experiment
from judgments.frames.build import judgment_frame
from releases.gold.plans import write_plan
from tests import cast

pytestmark = pytest.mark.django_db


def command_document(command, name, **options):
    out = StringIO()
    call_command(command, name, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


@pytest.fixture
def blimp(shared_data):
    path = shared_data("blimp/human_responses.csv")
    call_command("import_judgments", path, experiment="blimp", format="mturk-batch", stdout=StringIO())
    return Experiment.objects.get(slug="blimp")


def test_blimps_batch_gives_the_published_agreement(blimp):
    report = command_document("agreement", "blimp", exclude="rejected", rule="blimp")
    included = report["overall_included"]
    assert included["paradigms"] == 67
    assert (included["items_right"], included["items"]) == (323, 335)
    assert round(100 * included["majority_agreement"], 1) == 96.4
    assert round(100 * included["individual_agreement"], 1) == 88.6
    thin = [row["paradigm"] for row in report["paradigms"] if row["status"] == "insufficient_items"]
    assert thin == ["subject_island"]
    judged = [row for row in report["paradigms"] if row["status"] in ("included", "rejected")]
    assert len(judged) == 69
    assert round(report["reliability"]["krippendorff_alpha"], 2) == 0.63
    assert report["reliability"]["included"]["krippendorff_alpha"] == pytest.approx(0.649, abs=0.001)
    assert report["excluded"][1]["sessions_removed"] == 10
    write_plan(blimp, "approved-only", steps=[{"name": "rejected", "scope": "session", "rule": "rejected"}])
    by_plan = command_document("agreement", "blimp", exclude="approved-only", rule="blimp")
    assert by_plan["overall"] == report["overall"]
    assert command_document("agreement", "blimp")["overall"]["judgments"] == 6974  # nothing excluded unasked


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("blimpp", {}, "unknown study 'blimpp'. Did you mean 'blimp'?"),
        ("blimp", {"rule": "blim"}, "unknown rule 'blim'"),
        ("blimp", {"exclude": "rejeted"}, "Did you mean 'rejected'"),
        ("blimp", {"ties": "fair"}, "unknown tie rule 'fair'"),
        ("blimp", {"interval": "bcaa"}, "unknown method of intervals 'bcaa'"),
    ],
)
def test_unknown_names_end_with_two_and_near_names(name, options, words):
    cast.sit(cast.study("blimp", title="blimp"))
    with pytest.raises(CommandError, match=words.replace("?", r"\?")) as error:
        command_document("agreement", name, **options)
    assert error.value.returncode == 2


def test_ratings_give_the_zscores_that_ssa_2013_ship(shared_data):
    path = shared_data("ssa2013-likert/LI.ls.results.csv")
    call_command("import_judgments", path, experiment="ssa", format="table", stdout=StringIO())
    report = command_document("ratings", "ssa")
    assert (report["transform"], report["ddof"], len(report["items"])) == ("z", 1, 2384)
    study = Experiment.objects.get(slug="ssa")
    frame = judgment_frame(study)
    trials = study.sessions.order_by("pk", "trials__position").values_list("trials__attributes", flat=True)
    shipped = [float(attributes["zscores"].replace("NA", "nan")) for attributes in trials]
    shipped_means = frame.assign(z=shipped).groupby("sentence_id", observed=True)["z"].mean()
    differences = [abs(row["mean"] - shipped_means[row["sentence_id"]]) for row in report["items"]]
    assert max(differences) < 1e-9


def test_ratings_refuse_an_unknown_transform(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("participant,item,value\np,i1,2\np,i2,7\n")
    call_command("import_judgments", path, experiment="r", format="table", stdout=StringIO())
    with pytest.raises(CommandError, match="unknown transform 'zz'"):
        command_document("ratings", "r", transform="zz")
