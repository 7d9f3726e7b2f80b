"""Sentences never merge, repeats are not new people, and checks say the same as for materials."""

import html
import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from experiments.models import Experiment, Job
from experiments.operation.job_runner import run
from judgments.models import Judgment, Trial
from tests import cast
from tests.experiments.traps import N_CONFLICTING, N_IDENTICAL, trap_judgments, trap_lines

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(tmp_path):
    def write(text, name="answers.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def imported(path, experiment="answers", **options):
    out = StringIO()
    call_command(
        "import_judgments", path, experiment=experiment, format="table", stdout=out, json=True, **options
    )
    return json.loads(out.getvalue())


def phenomena_table():
    """Item numbers that begin again in each phenomenon."""
    rows = [
        f"{person},{item},{phenomenon},{phenomenon} sentence {item}.,{value}"
        for person, value in (("a", 1), ("b", 0))
        for phenomenon in ("anaphora", "islands", "agreement")
        for item in (1, 2)
    ]
    return "\n".join(["participant,test_item,phenomenon,sentence,value", *rows]) + "\n"


def test_items_of_several_phenomena_are_distinguished_with_a_warning(table):
    report = imported(table(phenomena_table()), map=["item=test_item"])
    study = Experiment.objects.get()
    assert study.materials.sentences.count() == 6 and study.materials.phenomena.count() == 3
    assert sorted(study.materials.items.values_list("key", flat=True))[0] == "agreement:1"
    texts = Trial.objects.values_list("sentence__text", "shown__text")
    assert texts.count() == 12 and all(text == shown_text for text, shown_text in texts)
    assert any("told_apart (2)" in warning and "'islands:1'" in warning for warning in report["warnings"])


def test_texts_of_one_item_without_conditions_are_distinguished(table):
    text = "participant,item,sentence,value\na,1,One.,5\na,1,Two.,2\nb,1,One.,6\nb,2,Three.,3\n"
    report = imported(table(text))
    sentences = dict(Experiment.objects.get().materials.sentences.values_list("key", "text"))
    assert sentences == {"1": "One.", "1#2": "Two.", "2": "Three."}
    assert any("told_apart" in warning for warning in report["warnings"])


def corrected_table():
    """A spelling that was corrected after the first person; the other sentence of the item is as it was."""
    rows = [
        f"p{person},1,{condition},{text},{value}"
        for person, noun in enumerate(("keyz", "keys", "keys", "kees"), start=1)
        for condition, text, value in (("a", f"The {noun} are here.", 6), ("b", "It is.", 2))
    ]
    return "\n".join(["participant,item,condition,sentence,value", *rows]) + "\n"


@pytest.mark.parametrize(("rule", "text", "rows"), [("frequent", "keys", 2), ("last", "kees", 1)])
def test_one_of_several_spellings_is_stored_and_named(table, rule, text, rows):
    path = table(corrected_table())
    with pytest.raises(CommandError, match="row 2: 1 sentence .*--spelling frequent, or last"):
        imported(path)
    report = imported(path, spelling=rule)
    (warning,) = [warning for warning in report["warnings"] if warning.startswith("spelling (1)")]
    assert f"'The {text} are here.' ({rows} row" in warning and "'The keyz are here.' (1 row)" in warning
    stored = Experiment.objects.get().materials.sentences.get(condition="a")
    assert stored.text == f"The {text} are here." and stored.item.key == "1"
    shown = Trial.objects.filter(sentence=stored).values_list("shown__text", flat=True)
    assert sorted(shown) == [f"The {noun} are here." for noun in ("kees", "keys", "keys", "keyz")]


def test_different_sentences_are_no_spellings_of_one(table):
    path = table(corrected_table().replace("The keyz are here.", "Who did they see?"))
    with pytest.raises(CommandError, match="1 sentence of one item and condition"):
        imported(path, spelling="frequent")
    with pytest.raises(CommandError, match="rule for spellings"):
        imported(path, spelling="longest")


def test_members_of_pairs_and_items_without_conditions_have_one_spelling(table):
    rows = "p1,1,She leaves.,She leave.,1\np2,1,She leavse.,She leave.,1\np3,1,She leaves.,She leave.,0\n"
    pairs = table("participant,pair_id,good,bad,value\n" + rows, "pairs.csv")
    with pytest.raises(CommandError, match="Or --spelling frequent"):
        imported(pairs)
    imported(pairs, spelling="frequent")
    assert Experiment.objects.get().materials.pairs.get().good.text == "She leaves."
    rated = table("participant,item,sentence,value\np1,1,She leavse.,6\np2,1,She leaves.,7\n", "rated.csv")
    report = imported(rated, experiment="rated", spelling="last")
    assert report["creates_materials"]["sentences"] == 1


def test_the_portuguese_study_is_imported_with_its_corrected_spelling(shared_data):
    path = shared_data("pcibex-ajt-ptbr/results_prod.csv")
    out = StringIO()
    options = {"format": "pcibex", "spelling": "frequent", "dry_run": True, "json": True}
    call_command("import_judgments", path, experiment="ajt", stdout=out, **options)
    (warning,) = [text for text in json.loads(out.getvalue())["warnings"] if text.startswith("spelling")]
    assert "viagem.' (13 rows) in place of 'A menina perdeu calça na viajem.' (2 rows)" in warning


def test_names_that_differ_in_case_spaces_or_zeros_are_named(table):
    rows = [
        f"{person},{item},{c},S {item} {c.strip().lower()}.,5"
        for person in ("S1", "s1 ")
        for item in ("1", "01")
        for c in "aA"
    ]
    report = imported(table("\n".join(["participant,item,condition,sentence,value", *rows]) + "\n"))
    warnings = [text for text in report["warnings"] if "several names" in text]
    assert [text.split(" may ")[0] for text in warnings] == ["1 participant", "1 item", "1 condition"]
    assert "'S1' and 's1 '" in warnings[0] and "'1' and '01'" in warnings[1]
    assert not any(
        "several names" in text
        for text in imported(table(corrected_table(), "b.csv"), experiment="b", spelling="last")["warnings"]
    )


def test_response_times_in_seconds_are_stored_in_milliseconds_and_named(table):
    rows = "p1,1,She leaves.,6,1.234\np1,2,She leave.,2,0.9\n"
    report = imported(table("participant,item,sentence,value,rt\n" + rows))
    assert "the response times 'rt' are seconds; they are stored in ms" in report["notes"]
    assert sorted(Judgment.objects.values_list("rt_ms", flat=True)) == [900, 1234]


FACTORIAL = [
    f"p{person},{item},{structure},{distance},{text} {structure} {distance}.,{value}"
    for person in (1, 2)
    for item, text in ((1, "One"), (2, "Two"))
    for structure, distance, value in (
        ("non", "near", 7),
        ("non", "far", 6),
        ("isl", "near", 5),
        ("isl", "far", 1),
    )
]


def factorial_table(*, has_texts=True):
    rows = ["participant,item,structure,distance,sentence,value", *FACTORIAL]
    cut = [",".join(part for n, part in enumerate(row.split(",")) if n != 4) for row in rows]
    return "\n".join(rows if has_texts else cut) + "\n"


def test_an_unmapped_factor_is_asked_about_with_and_without_texts(table):
    for has_texts in (True, False):
        path = table(factorial_table(has_texts=has_texts))
        for given in ((), ["condition=structure"]):
            with pytest.raises(CommandError, match=r"row 2: .* Map condition=structure\+distance"):
                imported(path, experiment="none", map=given)
        assert not Experiment.objects.filter(slug="none").exists()
        mapped = imported(path, experiment=f"f{has_texts}", map=["condition=structure+distance"])
        assert mapped["finding_counts"].get("told_apart", 0) == 0
        study = Experiment.objects.get(slug=mapped["experiment"])
        assert study.materials.sentences.count() == 8 and study.materials.items.count() == 2
        stated = imported(path, experiment=f"a{has_texts}", map=["attribute=structure+distance"])
        assert stated["kept_with_trials"][:2] == ["structure", "distance"]
    with pytest.raises(CommandError, match="missing column nothing"):
        imported(path, map=["attribute=nothing"])


def test_columns_that_are_no_factors_are_not_asked_about(table):
    rows = [
        f"p{person},{item},{item} {condition}.,{condition},{value},{'yes' if value > 3 else 'no'},"
        f"L{person % 2},{(person + item) % 5 == 0}"
        for person in range(10)
        for item in range(4)
        for condition, value in ([("a", 6)] if (person + item) % 2 else [("b", 2)])
    ]
    head = "participant,item,sentence,condition,value,said,version,focus_lost"
    assert imported(table("\n".join([head, *rows])))["added"]["judgments"] == 40
    bare = [",".join(part for n, part in enumerate(row.split(",")) if n != 2) for row in [head, *rows]]
    assert imported(table("\n".join(bare)), experiment="bare")["added"]["judgments"] == 40


def test_texts_of_one_item_and_condition_are_refused_with_all_rows_and_the_remedy(table):
    text = (
        "participant,item,condition,sentence,value\n"
        "a,1,x,One.,5\na,1,y,Two.,2\nb,1,x,Another.,6\nb,1,y,Yet another.,3\n"
    )
    with pytest.raises(
        CommandError,
        match=r"different texts.*rows 2, 3, 4, 5.*'One.' and 'Another.'.*--map item=phenomenon\+item",
    ):
        imported(table(text))
    assert not Experiment.objects.exists()


def test_pairs_of_one_name_and_several_wordings_are_refused_with_all_rows(table):
    text = "participant,pair_id,good,bad,value\na,1,A.,B.,1\na,2,C.,D.,1\nb,1,E.,F.,0\nb,2,G.,H.,0\n"
    with pytest.raises(CommandError, match=r"2 pairs of one pair_id .* rows 4, 5"):
        imported(table(text))


def test_judgments_and_materials_get_the_same_verdict(table):
    out = StringIO()
    call_command("import_materials", table(trap_lines(), "traps.jsonl"), name="traps", stdout=out, json=True)
    materials = json.loads(out.getvalue())["finding_counts"]
    report = imported(table(trap_judgments()))
    assert report["added"]["judgments"] == len(trap_judgments().splitlines()) - 1
    for code in ("identical_members", "conflicting_status"):
        assert report["finding_counts"][code] == materials[code] > 0
    warning = next(text for text in report["warnings"] if text.startswith("identical_members"))
    assert f"identical_members ({N_IDENTICAL}) in answers.csv, rows 22, 23, 24" in warning
    assert "import_materials --leave-out identical_members" in warning
    assert materials["conflicting_status"] == N_IDENTICAL + N_CONFLICTING


def repeated(n_repeats, *, values=None):
    rows = [
        f"p{person},i,The sentence.,{(values or {}).get(repeat, 5 if person < 7 else 3)}"
        for repeat in range(n_repeats)
        for person in range(10)
    ]
    return "\n".join(["participant,item,sentence,value", *rows]) + "\n"


def test_repeats_are_reported_with_rows_and_numbered_by_default(table):
    report = imported(table(repeated(2)), task="likert", scale_low=1, scale_high=7)
    (warning,) = [text for text in report["warnings"] if "judge a sentence again" in text]
    assert warning.startswith("10 rows judge a sentence again that the same participant judged before")
    assert "10 have the same answer as the first" in warning and "rows 12, 13, 14" in warning
    assert "--repeats" in warning
    assert sorted(Trial.objects.values_list("attributes__repetition", flat=True)) == [1] * 10 + [2] * 10


def test_the_researcher_declares_what_repeats_are(table):
    path = table(repeated(3, values={1: 1}))
    options = {"task": "slider", "scale_low": 1, "scale_high": 7}
    with pytest.raises(CommandError, match="20 rows judge a sentence again"):
        imported(path, repeats="refuse", **options)
    with pytest.raises(CommandError, match="average"):
        imported(path, repeats="averge", **options)
    assert not Experiment.objects.exists()
    report = imported(path, "wrong", repeats="first", **options)
    assert report["added"]["judgments"] == 10 and not report["warnings"]
    assert set(Judgment.objects.values_list("value", flat=True)) == {5, 3}
    imported(path, "averaged", repeats="average", **options)
    averaged = Judgment.objects.filter(trial__session__experiment__slug="averaged")
    assert {round(value, 3) for value in averaged.values_list("value", flat=True)} == {3.667, 2.333}
    report = imported(path, "kept", repeats="number", **options)
    assert report["added"]["judgments"] == 30 and not report["warnings"]


def test_intervals_of_items_count_people_whatever_is_kept(table):
    for experiment, n_repeats in (("once", 1), ("tenfold", 10)):
        imported(
            table(repeated(n_repeats), f"{experiment}.csv"),
            experiment,
            task="likert",
            scale_low=1,
            scale_high=7,
        )
        out = StringIO()
        call_command("ratings", experiment, transform="raw", json=True, stdout=out)
        (item,) = json.loads(out.getvalue())["items"]
        assert (item["n"], round(item["mean"], 6), round(item["se"], 6)) == (10, 4.4, 0.305505)


# Rows of stored materials


STORED = "participant,item,sentence,value\na,1,She left.,5\na,2,He leave.,2\n"


def test_a_row_of_another_wording_than_the_stored_sentence_is_refused_with_both_texts(table):
    imported(table(STORED), experiment="first")
    other = table(
        "participant,item,sentence,value\nq,1,She left.,4\nq,2,They goes.,2\nr,2,They goes.,1\n", "other.csv"
    )
    with pytest.raises(CommandError) as refusal:
        imported(other, experiment="second", materials="first")
    message = str(refusal.value)
    assert "2 rows with another text" in message
    assert "row 3: 'They goes.' (stored: 'He leave.')" in message and "rows 3, 4" in message
    assert "--map sentence=" in message
    assert Judgment.objects.count() == 2 and not Experiment.objects.filter(slug="second").exists()
    report = imported(other, experiment="second", materials="first", map=["sentence="])
    assert report["added"]["judgments"] == 3


def test_the_page_refuses_another_wording_and_takes_rows_without_their_text(client, table):
    imported(table(STORED), experiment="first")
    ada = cast.ada()
    materials = Experiment.objects.get(slug="first").materials
    type(materials).objects.update(owner=ada)
    client.force_login(ada)
    sent = SimpleUploadedFile("other.csv", b"participant,item,sentence,value\nq,2,They goes.,2\n")
    choices = {"experiment": "second", "format": "table", "materials": materials.pk}
    preview = client.post("/judgments/import/", {**choices, "file": sent}).url
    page = html.unescape(client.get(preview).content.decode())
    assert "row 2: 'They goes.' (stored: 'He leave.')" in page
    columns = {"map-participant": "participant", "map-item": "item", "map-value": "value"}
    client.post(preview, {**choices, **columns, "map-sentence": ""})
    assert "They goes." not in html.unescape(client.get(preview).content.decode())
    client.post(preview, {**choices, **columns, "map-sentence": "", "action": "import"})
    run(Job.objects.get().pk)
    assert Trial.objects.get(session__experiment__slug="second").sentence.text == "He leave."


def test_markup_and_spaces_are_no_other_wording(table):
    marked = "item,condition,sentence,markup\n1,a,She <em>left</em>.,inline\n2,a,He  leave.,\n"
    call_command("import_materials", table(marked, "marked.csv"), name="marked", stdout=StringIO())
    report = imported(
        table("participant,item,sentence,value\nq,1,She left.,4\nq,2,He leave. ,2\n"), materials="marked"
    )
    assert report["added"]["judgments"] == 2


def pairs_of_materials(tmp_path):
    path = tmp_path / "pairs.jsonl"
    row = {"sentence_good": "He runs.", "sentence_bad": "He run.", "UID": "sva", "pairID": "0"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    call_command("import_materials", path, name="sva", stdout=StringIO())


def test_members_of_a_pair_that_are_exchanged_or_others_are_refused(table, tmp_path):
    pairs_of_materials(tmp_path)
    head = "participant,pair_id,good,bad,value\n"
    for members in ("He run.,He runs.", "She runs.,He run."):
        with pytest.raises(CommandError, match="with another text than the sentence of the materials 'sva'"):
            imported(table(f"{head}q,sva:0,{members},1\n"), materials="sva")
    report = imported(table(f"{head}q,sva:0,He runs.,He run.,1\n"), materials="sva")
    assert report["added"]["judgments"] == 1


def test_contexts_are_kept_with_their_sentences_and_whether_they_were_seen_is_asked(table):
    head = "participant,item,condition,sentence,context,rating\n"
    rows = [
        f"{person},{item},{condition},She did.,{text},{value}"
        for person, value in (("a", 5), ("b", 6))
        for item in (1, 2)
        for condition, text in (("question", f"A: Who left? ({item})"), ("story", f"It rained. ({item})"))
    ]
    options = {"task": "likert", "scale_low": 1, "scale_high": 7}
    report = imported(table(head + "\n".join(rows)), **options)
    study = Experiment.objects.get(slug="answers")
    contexts = {row.key: row.context for row in study.materials.sentences.all()}
    assert contexts["1:question"] == "A: Who left? (1)" and len(contexts) == 4
    assert study.context_display == "unknown"
    assert any("whether participants saw them" in note for note in report["notes"])
    moved = [row.replace("It rained. (1)", "It snowed.") if row[0] == "b" else row for row in rows]
    with pytest.raises(CommandError, match="one sentence_id has several contexts: '1:story'"):
        imported(table(head + "\n".join(moved)), experiment="two", **options)


def test_a_column_called_context_that_has_levels_is_no_context(table):
    head = "participant,item,context,sentence,rating\n"
    rows = [
        f"{person},{item},{context},She did {item} {context}.,{value}"
        for person, value in (("a", 5), ("b", 6))
        for item in (1, 2)
        for context in ("neutral", "biased")
    ]
    path = table(head + "\n".join(rows))
    imported(path, map=["condition=context"], task="likert", scale_low=1, scale_high=7)
    study = Experiment.objects.get(slug="answers")
    assert set(study.materials.sentences.values_list("condition", flat=True)) == {"neutral", "biased"}
    assert {row.context for row in study.materials.sentences.all()} == {""}
    with pytest.raises(CommandError, match="condition=context"):
        imported(path, experiment="unmapped", task="likert", scale_low=1, scale_high=7)
