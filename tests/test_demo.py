"""The demo: made once, true on every page."""

import json
import stat
from io import StringIO

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import call_command
from django.utils import timezone

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.base import FLAG_UNKNOWN
from experiments.models import Experiment, MaterialSet
from judgments.models import Judgment, Session
from judgments.monitoring.overview import study_numbers
from releases.demo.conclusions import SEEDS, SIZES, TITLE, TRAINING
from releases.demo.login import administrator_lines, demo_user, login_line
from releases.demo.make import make_demo
from releases.demo.materials import PAIRS_NAME, pair_materials
from releases.models import Comparison, ExclusionPlan, Release, ScoringRun
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def var(tmp_path, settings):
    """A fresh machine's var folder."""
    settings.VAR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    settings.STORAGES = {
        **settings.STORAGES,
        "releases": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path / "releases"},
        },
    }
    return tmp_path


def test_demo_that_was_cut_off_is_completed_with_something_true_for_every_page_and_made_once(
    var, monkeypatch
):
    def cut(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("releases.demo.make.simulate_participants", cut)
        with pytest.raises(KeyboardInterrupt):
            make_demo()
    assert Experiment.objects.count() == 1
    out = StringIO()
    call_command("demo", stdout=out)
    output = out.getvalue()
    assert "4 studies" in output and login_line() in output

    studies = Experiment.objects.filter(status="open")
    assert {study.slug: study.task for study in studies} == {
        "demo": "forced_choice",
        "demo-likert": "likert",
        "demo-yes-no": "yes_no",
        "demo-magnitude": "magnitude_estimation",
    }
    main = studies.get(slug="demo")
    texts = list(main.materials.sentences.values_list("text", flat=True))
    (model,) = var.glob("demo/**/trigram.arpa")
    flags = scorer(f"arpa:{model}").score(texts).flags  # without options: the file records its tokens
    assert ((flags & FLAG_UNKNOWN) > 0).mean() < 0.2
    assert main.lists.count() == 4 and main.questionnaire and main.consent
    trials = main.lists.first().planned_trials
    assert trials.filter(kind="target").count() == 24
    assert trials.filter(kind="catch").exists() and trials.filter(kind="practice").exists()
    assert main.materials.paradigms.count() == 6
    assert Session.objects.filter(experiment=main, status="complete").count() == 39
    assert set(Session.objects.values_list("participant__is_simulated", flat=True)) == {True}

    campaign = main.campaigns.get()
    assert (campaign.state, campaign.submissions.filter(status="approved").count()) == ("closed", 39)

    plan = ExclusionPlan.objects.get(experiment=main)
    assert plan.locked_before_first_response and plan.exclusions.exists()
    assert {release.state for release in Release.objects.all()} == {"ready"}
    assert set(ScoringRun.objects.values_list("name", "method", "state")) == {
        ("trigram", "lp", "done"),
        ("trigram", "slor", "done"),
        ("trigram", "one_prefix", "done"),
        ("trigram", "two_prefix", "done"),
        ("bigram", "lp", "done"),
        ("unigram", "lp", "done"),
        ("noisy reader", "lp", "done"),
        *((f"trigram {size:,}, seed {seed}", "lp", "done") for size in SIZES for seed in SEEDS),
        *((f"trigram {SIZES[-1]:,} without ever, seed {seed}", "lp", "done") for seed in SEEDS),
    }
    trained = Comparison.objects.get(title=TRAINING).report["depth"]
    assert trained["learning"][0]["slope_per_doubling"] > 0
    hurt = next(row for row in trained["filtered"]["deltas"] if row["targeted"])
    assert hurt["group"] == "only_npi_licensor_present" and hurt["accuracy_delta"] < -25
    depth = Comparison.objects.get(release__experiment__slug="demo", title=TITLE).report["depth"]
    assert {row["method"] for row in depth["prefixes"]} == {"one_prefix", "two_prefix"}
    assert all(depth[part] for part in ("tests", "predictors", "decisions"))
    rated = Comparison.objects.get(release__experiment__slug="demo-likert").report
    assert rated["pairs"] == 48 and rated["baselines"]["human_ceiling"]["status"] == "ok"
    blimp = {model["model"]: model["blimp"] for model in rated["models"]}
    assert blimp["noisy reader"] > blimp["trigram (lp)"] > 0.5

    numbers = study_numbers(Experiment.objects.get(slug="demo"))
    assert numbers.median_s > 60 and numbers.last_at < timezone.now()

    counts = (Judgment.objects.count(), Comparison.objects.count(), MaterialSet.objects.count())
    second_output = StringIO()
    call_command("demo", "--json", stdout=second_output)
    assert json.loads(second_output.getvalue())["is_new"] is False
    assert (Judgment.objects.count(), Comparison.objects.count(), MaterialSet.objects.count()) == counts


def test_password_is_kept_where_only_its_owner_reads_it(var):

    user = demo_user()
    file = var / "demo_password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert authenticate(username="demo", password=file.read_text()) == user
    assert login_line() == f"Demo login: demo, password: {file.read_text()}"
    assert "createsuperuser" in administrator_lines()[0]
    get_user_model().objects.create_superuser("root")
    assert administrator_lines() == []
    user.set_password("another-password")
    user.save()
    assert "another-password" not in login_line() and "you have set" in login_line()
    assert demo_user() == user and get_user_model().objects.get(username="demo").check_password(
        "another-password"
    )


def test_password_may_be_set(var, monkeypatch):
    monkeypatch.setenv("DEMO_PASSWORD", "correct-horse")

    assert demo_user().check_password("correct-horse")
    assert not (var / "demo_password").exists()


def test_a_study_of_that_name_that_is_not_the_demos_is_left_alone(var):
    study = cast.draft("demo")
    with pytest.raises(BadInput, match="not the demo's"):
        make_demo()
    study.refresh_from_db()
    assert study.title == "Study demo"


def test_materials_of_an_earlier_versions_demo_stay(var):
    owner = demo_user()
    earlier = MaterialSet.objects.create(name=PAIRS_NAME, slug="demo", checksum="older", owner=owner)
    assert pair_materials(owner) == earlier
    earlier.owner = cast.ada()
    earlier.save()
    with pytest.raises(BadInput, match="exists with other content"):
        pair_materials(owner)
