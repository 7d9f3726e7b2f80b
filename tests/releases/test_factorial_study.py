"""A 2×2 study from materials to release: factors stay columns, differences of differences everywhere."""

import csv
import io
import json

import pandas as pd
import pytest
from django.core.management import call_command
from django.urls import reverse

from experiments.models import Experiment, Sentence
from judgments.frames.build import judgment_frame
from releases.gold.build import build_release
from releases.gold.options import Options
from releases.models import ScoringRun, SentenceScore
from releases.study_report.build import build_report
from tests.experiments import factorial

pytestmark = pytest.mark.django_db
CELLS = list(factorial.TEXTS)
PEOPLE, ITEMS, FILLERS = 12, 8, 4


def rating(person: int, item: int, structure: str, distance: str) -> int:
    """Island and long each cost one point, together three; people and items differ a little."""
    island, long = structure == "island", distance == "long"
    return 6 - island - long - (island and long) + (person * item + person) % 3 - 1


@pytest.fixture
def study(tmp_path) -> Experiment:
    """Ratings of a Latin square with fillers, imported onto the stored factors."""
    materials = factorial.stored(tmp_path, n_items=ITEMS, n_fillers=FILLERS)
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["participant", "item_set", "structure", "distance", "text", "kind", "value"])
        for person in range(PEOPLE):
            for item in range(1, ITEMS + 1):
                cell = CELLS[(person + item) % 4]
                text = factorial.TEXTS[cell].format(n=item)
                writer.writerow([f"p{person}", item, *cell, text, "target", rating(person, item, *cell)])
            for filler in range(1, FILLERS + 1):
                text = f"The neighbour has sold bicycle {filler}."
                value = 7 if filler % 2 else 1
                writer.writerow([f"p{person}", f"filler:{filler}", "", "", text, "filler", value])
    call_command(
        *("import_judgments", str(path), "--experiment", "Islands", "--materials", materials.name),
        *("--format", "table", "--task", "likert", "--scale-low", "1", "--scale-high", "7"),
        *("--map", "condition=structure+distance", "item=item_set", "sentence=text", "--owner", "ada"),
        stdout=io.StringIO(),
    )
    return Experiment.objects.get(title="Islands")


@pytest.fixture
def model(study) -> ScoringRun:
    """Scores in which island and long together cost two more than separately."""
    run = ScoringRun.objects.create(
        material_set=study.materials, name="trigram", model="arpa:x", state=ScoringRun.State.DONE
    )
    for sentence in Sentence.objects.filter(material_set=study.materials).select_related("item"):
        island, long = (word in sentence.condition.split(":") for word in ("island", "long"))
        wobble = 0.1 * (sentence.pk % 3)
        SentenceScore.objects.create(
            run=run, sentence=sentence, score=-10 - island - long - 2 * (island and long) + wobble
        )
    return run


def effects(*arguments: str) -> str:
    out = io.StringIO()
    call_command("effects", *arguments, stdout=out)
    return out.getvalue()


def test_factors_are_ordered_columns_of_frames_and_exports(ada, study):
    frame = judgment_frame(study)
    assert list(frame["structure"].cat.categories) == ["non-island", "island"]
    assert frame["distance"].cat.ordered and len(frame) == PEOPLE * (ITEMS + FILLERS)
    fillers = frame[frame["kind"] == "filler"]
    assert len(fillers) == PEOPLE * FILLERS and fillers["structure"].isna().all()
    targets = frame[frame["kind"] == "target"]
    joined = targets["structure"].astype(str) + ":" + targets["distance"].astype(str)
    assert (joined == targets["condition"].astype(str)).all()
    answer = ada.get(f"/api/v1/studies/{study.slug}/judgments.csv", {"columns": "all"})
    rows = pd.read_csv(io.BytesIO(b"".join(answer.streaming_content)))
    assert rows["structure"].value_counts().to_dict() == {"non-island": 48, "island": 48}


def test_the_command_reports_each_participant_and_item_and_models(study, model):
    report = json.loads(effects(study.slug, "--transform", "raw", "--json"))
    row = report["interactions"][0]
    assert (row["read_from"], row["oriented_by"]) == ("columns", "order")
    assert row["first"] == {"name": "structure", "plain": "non-island", "marked": "island"}
    by_hand = judgment_frame(study, kinds=["target"]).pivot_table(
        index="participant", columns=["structure", "distance"], values="value", observed=True
    )
    expected = (by_hand["non-island", "long"] - by_hand["island", "long"]) - (
        by_hand["non-island", "short"] - by_hand["island", "short"]
    )
    listed = {entry["participant"]: entry["difference"] for entry in row["differences"]["participants"]}
    assert listed == pytest.approx(expected.to_dict())
    assert row["participants"]["estimate"] == pytest.approx(expected.mean())
    assert row["participants"]["above_zero"] == int((expected > 0).sum())
    assert len(row["differences"]["items"]) == row["items"]["n"] == ITEMS
    beside = report["models"][0]
    assert (beside["model"], beside["items"]["above_zero"], beside["items"]["n"]) == ("trigram", ITEMS, ITEMS)
    assert beside["items"]["estimate"] > 0 and beside["people_n"] == ITEMS
    printed = effects(study.slug)
    assert "island x long, difference of differences" in printed
    assert "    structure × distance: " in printed and "slopes by participant (first" not in printed
    tests = {(test["kind"], test["effect"]): test for test in report["factorial"][0]["effects"]}
    assert tests["interaction", "structure × distance"]["estimate"] == row["mixed"]["estimate"]
    assert "by items:" in printed and "    item 3:" in printed and "by trigram, items:" in printed


def test_a_contrast_of_chosen_levels_on_page_and_command(ada, study):
    report = json.loads(
        effects(study.slug, "--conditions", "non-island,island", "--transform", "raw", "--json")
    )
    frame = judgment_frame(study, kinds=["target"]).astype({"structure": str})
    means = frame.groupby(["participant", "structure"], observed=True)["value"].mean().unstack()
    difference = (means["non-island"] - means["island"]).mean()
    assert report["effects"][0]["mean_difference"] == pytest.approx(difference)
    address = reverse("study-effects", args=[study.slug])
    page = ada.get(address, {"conditions": "non-island,island", "transform": "raw"}).content.decode()
    assert f"The contrast non-island − island is {difference:.2f}" in page
    assert "&#x27;never&#x27;" in ada.get(address, {"conditions": "never,island"}).content.decode()


def test_the_page_opens_with_the_finding_and_the_figure(ada, study, model):
    page = ada.get(reverse("study-effects", args=[study.slug])).content.decode()
    finding, figure, table = (
        page.index("Island and long together cost"),
        page.index("/figures/interaction.svg"),
        page.index("People, by participants"),
    )
    effects_table = page.index("structure: non-island − island, at distance long")
    assert finding < figure < effects_table < table
    assert "trigram, by items" in page and "Each item" in page and "columns of the materials" in page
    csv_bytes = ada.get(reverse("study-figure", args=[study.slug, "interaction", "csv"])).content
    points = pd.read_csv(io.BytesIO(csv_bytes), keep_default_na=False)
    means = points[(points["panel"] == "people") & (points["item"] == "")]
    assert list(zip(means["line"], means["level"], strict=True)) == CELLS
    assert (means["ci_low"].astype(float) < means["mean"].astype(float)).all()
    assert set(points["panel"]) == {"people", "trigram"}
    assert points.loc[points["panel"] == "people", "item"].nunique() == ITEMS + 1


def test_the_interaction_is_the_first_figure_of_a_factorial_study(ada, study):
    page = ada.get(reverse("study-figures", args=[study.slug]))
    assert page.context["groups"][0]["drawings"][0]["drawing"].name == "interaction"


def test_a_larger_design_keeps_its_factors_and_reports_why_there_is_no_difference(ada, study):
    study.materials.factors = [
        {"name": "structure", "levels": ["non-island", "island"]},
        {"name": "distance", "levels": ["short", "mid", "long"]},
    ]
    study.materials.save()
    sentence = Sentence.objects.get(condition="island:short", item__key="1")
    sentence.factors, sentence.condition = {"structure": "island", "distance": "mid"}, "island:mid"
    sentence.save()
    page = ada.get(reverse("study-effects", args=[study.slug])).content.decode()
    assert "the design is 2 × 3 (structure × distance)" in page
    assert "the design is 2 × 3" in effects(study.slug)


def test_a_release_has_factors_levels_and_the_differences(study, model):
    files = build_release(study, Options()).files
    sentences = pd.read_csv(io.BytesIO(files["sentences.csv"]), keep_default_na=False)
    assert set(sentences["structure"]) == {"non-island", "island", ""}
    assert sentences["kind"].value_counts()["filler"] == FILLERS
    judgments = pd.read_csv(io.BytesIO(files["judgments.csv"]), keep_default_na=False)
    assert {"structure", "distance"} <= set(judgments.columns)
    differences = pd.read_csv(io.BytesIO(files["differences.csv"]), keep_default_na=False)
    assert differences.groupby(["source", "unit"]).size().to_dict() == {
        ("people", "item"): ITEMS,
        ("people", "participant"): PEOPLE,
        ("trigram", "item"): ITEMS,
    }
    assert json.loads(files["manifest.json"])["factors"] == [
        {"name": "structure", "levels": ["non-island", "island"]},
        {"name": "distance", "levels": ["short", "long"]},
    ]
    fields = {
        field["name"]: field
        for resource in json.loads(files["datapackage.json"])["resources"]
        if resource["path"] == "judgments.csv"
        for field in resource["schema"]["fields"]
    }
    assert fields["structure"]["constraints"] == {"enum": ["non-island", "island"]}


def test_judgments_with_joined_columns_bring_their_factors(tmp_path):
    path = tmp_path / "ratings.csv"
    rows = ["participant,item,structure,distance,value"]
    rows += [f"p{p},{i},{s},{d},{rating(p, i, s, d)}" for p in range(6) for i in (1, 2) for s, d in CELLS]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    call_command(
        *("import_judgments", str(path), "--experiment", "Bare", "--format", "table", "--task", "likert"),
        *("--map", "condition=structure+distance"),
        stdout=io.StringIO(),
    )
    bare = Experiment.objects.get(title="Bare")
    assert bare.materials.levels == factorial.LEVELS
    report = json.loads(effects("bare", "--json"))
    assert report["interactions"][0]["first"]["name"] == "structure"


@pytest.mark.parametrize("states_expected", [True, False])
def test_an_import_takes_the_sign_from_the_unacceptable_condition_else_from_the_order(
    tmp_path, states_expected
):
    """The file begins with an island, which is the marked level only where its status is stated."""
    path = tmp_path / "ratings.csv"
    cells = sorted(CELLS, key=lambda cell: cell[0] != "island")
    rows = ["participant,item,structure,distance,expected,value"]
    for p in range(6):
        for i in (1, 2):
            for s, d in cells:
                status = "unacceptable" if (s, d) == ("island", "long") else "acceptable"
                rows.append(f"p{p},{i},{s},{d},{status if states_expected else ''},{rating(p, i, s, d)}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    call_command(
        *("import_judgments", str(path), "--experiment", "Bare", "--format", "table", "--task", "likert"),
        *("--map", "condition=structure+distance"),
        stdout=io.StringIO(),
    )
    row = json.loads(effects("bare", "--json"))["interactions"][0]
    assert row["first"]["marked"] == ("island" if states_expected else "non-island")
    assert (row["mixed"]["estimate"] > 0) == states_expected


def test_the_report_of_a_study_gives_the_interaction_of_models_beside_people(study, model):
    built = build_report(study, Options(), has_pdf=False)
    effects_part = built.numbers["effects"]
    assert effects_part["interactions"][0]["first"]["name"] == "structure"
    assert effects_part["models"][0]["model"] == "trigram"
    page = built.files["report.html"].decode()
    assert page.index("Interaction") < page.index("Ratings by condition")
    assert "trigram" in page
