"""Meanings of answers: indexes, codes for no answer, reversed scales, and the warnings after an import."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from experiments.models import Job
from experiments.operation import job_runner
from judgments.models import Judgment

pytestmark = pytest.mark.django_db
PAIRS = [("a", "The keys are here.", "The keys is here."), ("b", "She left.", "She leave.")]


@pytest.fixture
def read(tmp_path):
    def call(content, *options, format="table"):
        path = tmp_path / ("data.json" if isinstance(content, list) else "data.csv")
        path.write_text(json.dumps(content) if isinstance(content, list) else content)
        out = StringIO()
        arguments = [str(path), "--experiment", "s", "--format", format, *options, "--json"]
        call_command("import_judgments", *arguments, stdout=out)
        return json.loads(out.getvalue())

    return call


def stored(*fields):
    return list(Judgment.objects.order_by("pk").values_list(*fields, flat=len(fields) == 1))


def button(index, response, **data):
    kind = "html-button-response"
    return {"subject": "p1", "trial_type": kind, "trial_index": index, "response": response, **data}


def ratings(values):
    rows = [f"p{n % 6},i{n},Sentence {n}.,{value}" for n, value in enumerate(values)]
    return "\n".join(["participant,item,sentence,rating", *rows])


def test_the_place_of_a_button_becomes_the_member_shown_there(read):
    trials = [
        button(n, int(not first), pair_id=name, good=good, bad=bad, expected_first=first)
        for n, ((name, good, bad), first) in enumerate(zip(PAIRS, (True, False), strict=True))
    ]
    assert read(trials, format="jspsych")["task"] == "forced_choice"
    assert stored("value") == [1.0, 1.0]


def test_the_meaning_of_two_buttons_is_asked_unless_the_data_hold_it(read):
    trials = [button(0, 0, item="1", expected="good"), button(1, 1, item="2", expected="bad")]
    # fields of @jspsych-contrib/plugin-html-multi-response 2.0.0
    several = [{**trial, "trial_type": "html-multi-response", "response": None} for trial in trials]
    several = [{**trial, "button_response": n} for n, trial in enumerate(several)]
    for format, content in (
        ("jspsych", trials),
        (
            "table",
            "trial_type,subject,item,response\nhtml-button-response,p1,1,0\nhtml-button-response,p1,2,1",
        ),
        ("jspsych", several),
    ):
        with pytest.raises(CommandError, match="indexes of buttons.*--labels 0=yes 1=no"):
            read(content, format=format)
    read(
        [{**trial, "choices": ["Yes", "No"]} for trial in trials],
        "--experiment",
        "labelled",
        format="jspsych",
    )
    report = read(trials, "--labels", "0=no", "1=yes", format="jspsych")
    assert stored("value") == [1.0, 0.0, 0.0, 1.0]
    assert any("are judged lower than the others" in warning for warning in report["warnings"])


@pytest.mark.parametrize("code", ["99", "-99", "-1", "9", "0", "999"])
def test_codes_for_no_answer_are_asked_about_and_never_change_the_task(read, code):
    values = [code if n % 10 == 3 else str(n % 7 + 1) for n in range(70)]
    with pytest.raises(CommandError, match=f"stand apart.*--missing {code}"):
        read(ratings(values))
    report = read(ratings(values), "--missing", code)
    assert (report["task"], report["scale"], report["missing"]) == ("likert", [1.0, 7.0], 7)


@pytest.mark.parametrize("code", ["-1", "2", "9"])
def test_a_rare_third_answer_beside_no_and_yes_is_asked_about(read, code):
    values = [code if n % 20 == 3 else str(n % 2) for n in range(60)]
    with pytest.raises(CommandError, match=f"stand apart.*--missing {code}"):
        read(ratings(values))
    report = read(ratings(values), "--missing", code)
    assert (report["task"], report["missing"]) == ("yes_no", 3)


@pytest.mark.parametrize(
    "values", [[-3, -2, 0, 1, 3], [1, 2, 8, 10, 9], [0, 5, 10, 2, 8], [5, 50, 200, 12, 75]]
)
def test_answers_of_an_ordinary_scale_are_not_asked_about(read, values):
    assert read(ratings(values * 4), "--dry-run")["missing"] == 0


def test_answers_of_1_and_2_only_are_asked_about(read):
    content = ratings([n % 2 + 1 for n in range(12)])
    with pytest.raises(CommandError, match="1 and 2 only.*--labels 1=yes 2=no"):
        read(content)
    assert read(content, "--task", "likert", "--dry-run")["scale"] == [1.0, 2.0]
    assert read(content, "--labels", "1=yes", "2=no")["task"] == "yes_no"
    assert stored("value")[:2] == [1.0, 0.0]


def test_percentages_are_points_of_a_slider(read):
    assert read(ratings(["60%", "5 %", "0%", "12.5%"] * 3))["task"] == "slider"
    assert stored("value")[:4] == [60.0, 5.0, 0.0, 12.5]


def test_sliders_that_stayed_where_they_began_are_missing_in_a_table_too(read):
    rows = "participant,item,sentence,rating,slider_start\np,1,A.,50,50\np,2,B.,70,50\n"
    assert read(rows)["missing"] == 1
    assert stored("trial__position", "value") == [(1, None), (2, 70.0)]


def test_screens_without_the_item_that_others_have_are_no_judgments(read):
    trials = [
        button(0, 0, stimulus="Welcome"),
        button(1, 6, stimulus="A.", stim_id="a"),
        button(2, 1, stimulus="B.", stim_id="b"),
    ]
    report = read(trials, format="jspsych")
    assert stored("value") == [6.0, 1.0]
    assert any("--map item=stim_id" in warning for warning in report["warnings"])


def test_a_scale_element_with_more_points_than_buttons_is_a_slider(read):
    content = PENN.replace("Scale,rating,Choice,6", "Scale,rating,Choice,64")
    assert read(content, "--map", "value=rating", format="pcibex")["task"] == "slider"


def test_a_reversed_scale_is_named_and_reversed(read):
    rows = [
        (n, cell)
        for n in range(3)
        for cell in (f"g,acceptable,She left {n}.,1", f"b,*,She leave {n}.,{5 + n}")
    ]
    lines = "participant,item,condition,expected,sentence,value\n"
    lines += "".join(f"p{n},{n},{cells}\n" for n, cells in rows)
    wrong = read(lines, "--dry-run")["warnings"]
    assert any("judged lower" in warning and "--scale-low 7 --scale-high 1" in warning for warning in wrong)
    assert read(lines, "--scale-low", "7", "--scale-high", "1")["warnings"] == []
    assert stored("value", "scale_low", "scale_high")[:2] == [(7.0, 1.0, 7.0), (3.0, 1.0, 7.0)]


def test_labelled_points_decimal_commas_and_chosen_rows_are_read(read):
    labelled = ratings(["7 - perfect", "1 - awful", "4 (so so)"])
    assert read(labelled, "--dry-run")["scale"] == [1.0, 7.0]
    read("participant;item;part;value\np1;1;main;0,25\np1;2;main;0,5\np1;3;other;x", "--where", "part=main")
    assert stored("value") == [0.25, 0.5]


def test_expected_statuses_keep_a_rated_pair_in_one_item(read):
    lines = (
        "participant,item,expected,text,value\np1,1,acceptable,She left.,7\np1,1,unacceptable,She leave.,1\n"
    )
    report = read(lines, "--map", "sentence=text")
    assert report["creates_materials"]["items"] == 1 and report["warnings"] == []


PENN = (
    "# Columns below this comment are as follows:\n"
    + "".join(
        f"# {number}. {name}.\n"
        for number, name in enumerate(
            [
                "Results reception time",
                "MD5 hash of participant's IP address",
                "Controller name",
                "Order number of item",
                "Inner element number",
                "Label",
                "Latin Square Group",
                "PennElementType",
                "PennElementName",
                "Parameter",
                "Value",
                "EventTime",
                "item",
                "sentence",
                "Comments",
            ],
            1,
        )
    )
    + "".join(
        f"1600,ab,PennController,{n},0,exp,NULL,{event},i{n},S {n}.,NULL\n"
        for n, (value, time) in enumerate([("6", "2000"), ("NA", "Never"), ("2", "6000")], 1)
        for event in (
            f"PennController,0,_Trial_,Start,{n}500",
            f"Scale,rating,Choice,{value},{time}",
            f"Selector,q,Selection,yes,{n}900",
        )
    )
)
GORILLA = (
    "Event Index,Participant Private ID,Trial Number,Zone Type,Zone Name,Response,item,sentence\n"
    + "".join(
        f"{n},7,{n},response_rating,rating,{n + 2},i{n},S {n}.\n"
        f"{n},7,{n},response_text,why,so {n},i{n},S {n}.\n"
        for n in (1, 2, 3)
    )
)


@pytest.mark.parametrize(
    ("format", "content", "values"),
    [("pcibex", PENN, [6.0, None, 2.0]), ("gorilla", GORILLA, [3.0, 4.0, 5.0])],
)
def test_the_answer_of_a_trial_with_several_is_chosen_by_name(read, format, content, values):
    with pytest.raises(CommandError, match=f"If it is, import it with --format {format}"):
        read(content, format="auto")
    with pytest.raises(CommandError, match="trials have several answers.*rating"):
        read(content, format=format)
    read(content, "--map", "value=rating", format=format)
    assert stored("trial__position", "value") == list(enumerate(values, 1))


@pytest.mark.parametrize(("format", "content"), [("pcibex", PENN), ("gorilla", GORILLA)])
def test_the_chosen_answer_stays_when_the_page_is_read_again(ada, settings, tmp_path, format, content):
    settings.MEDIA_ROOT = tmp_path / "media"
    file = SimpleUploadedFile("results.csv", content.encode())
    address = ada.post("/judgments/import/", {"file": file, "experiment": "s", "format": "auto"}).url
    form = {"experiment": "s", "format": format, "guess_is_right": "yes"}
    ada.post(address, {**form, "map-value": "rating", "action": "again"})
    for action in ("again", "import"):
        fields = ada.get(address).context["mapping"]
        mapped = {f"map-{name}": field.initial for name, field in fields.fields.items()} if fields else {}
        ada.post(address, {**form, **mapped, "action": action})
    job_runner.run(Job.objects.get().pk)
    assert stored("value")[0] == {"pcibex": 6.0, "gorilla": 3.0}[format]


def test_runs_joined_with_their_headers_are_read(read):
    run = '"trial_type","trial_index","response","stimulus","item","subject"\n'
    row = '"html-slider-response","0","{}","<p>She left.</p>","1","{}"\n'
    read(run + row.format(30, "a") + run + row.format(60, "b"), format="jspsych")
    assert stored("value") == [30.0, 60.0]


def test_a_column_of_buttons_is_an_index_and_a_button_of_gorilla_its_text(read):
    rows = "".join(f"p1,i{n},S{n}.,{n % 2}\n" for n in range(4))
    with pytest.raises(CommandError, match="indexes of buttons"):
        read("participant,item,sentence,button_pressed\n" + rows, "--map", "value=button_pressed")
    # Gorilla, Task Builder 1 (its documentation of data columns): Response is the text of the button
    events = "".join(f"{n},7,{n},response_button_text,{1 + n % 2},i{n},S{n}.\n" for n in range(4))
    head = "Event Index,Participant Private ID,Trial Number,Zone Type,Response,item,sentence\n"
    report = read(head + events, format="gorilla")
    assert report["scale"] == [1.0, 2.0] and not any("indexes" in text for text in report["warnings"])


def test_of_two_columns_named_like_answers_one_is_chosen(read):
    text = "participant,item,sentence,rating,judgment\np1,1,A.,6,1\np1,2,B.,2,0\n"
    with pytest.raises(CommandError, match="named like answers.*rating, judgment"):
        read(text)
    assert read(text, "--map", "value=rating")["task"] == "likert"
    assert stored("value") == [6.0, 2.0]
    with pytest.raises(CommandError, match="'naturalness_rating' or 'sure_rating' may be"):
        read(text.replace("judgment", "sure_rating").replace(",rating", ",naturalness_rating"))


def test_an_inversion_is_noticed_by_the_names_of_conditions(read):
    rows = [
        f"p1,{n},{condition},S {n} {condition}.,{value}"
        for n in range(3)
        for condition, value in (("grammatical", 1 + n), ("ungrammatical", 5 + n))
    ]
    warnings = read("\n".join(["participant,item,condition,sentence,rating", *rows]))["warnings"]
    assert any("judged lower" in text and "names of the conditions" in text for text in warnings)


def test_sentences_without_texts_are_not_taken_for_one_sentence(read):
    rows = [f"p1,{n},{status},{n}" for n, status in enumerate(("good", "bad", "good", "bad"), start=1)]
    report = read("\n".join(["participant,item,expected,rating", *rows]))
    assert not {"conflicting_status", "identical_members", "duplicate_pair"} & set(report["finding_counts"])


def test_names_of_sounds_and_pictures_are_not_taken_for_sentences_without_a_word(read):
    # jsPsych 8.3: the stimulus of audio-slider-response is the name of the file
    trials = [
        {
            "subject": "p1",
            "trial_type": "audio-slider-response",
            "trial_index": n,
            "response": 30 * n,
            "item": n,
        }
        | {"stimulus": f"sounds/{n}.wav"}
        for n in (1, 2, 3)
    ]
    warnings = read(trials, format="jspsych")["warnings"]
    assert any("'stimulus' names files" in text for text in warnings)


@pytest.mark.parametrize(
    ("values", "options", "point"),
    [
        ([1, 2, 3, 4, 5, 6, 7] * 8 + [8], [], "8 (1 answer)"),
        ([1, 2, 3, 4, 5] * 8 + [6], [], "6 (1 answer)"),
        ([1, 2, 3, 4, 5, 6] * 8, [], ""),
        ([1, 2, 3, 4, 5, 6, 7] * 8 + [8], ["--scale-high", "8"], ""),
    ],
)
def test_a_doubtful_end_of_the_scale_is_named_with_its_answers(read, values, options, point):
    warnings = [text for text in read(ratings(values), *options)["warnings"] if "point of the scale" in text]
    assert [text.split(" is taken")[0] for text in warnings] == ([point] if point else [])


def test_two_scales_that_another_column_tells_apart_are_asked_about(read):
    short = [f"p{n % 3},i{n},Sentence {n}.,{1 + n % 7},7-point" for n in range(12)]
    long = [f"p{n % 3},j{n},Clause {n}.,{(9 * n) % 101},thermometer" for n in range(12)]
    table = "\n".join(["participant,item,sentence,rating,measure", *short, *long])
    with pytest.raises(CommandError) as refused:
        read(table)
    assert "two scales, told apart by 'measure': 1 to 7 where it is '7-point'" in str(refused.value)
    assert "--where measure=7-point or --where measure=thermometer" in str(refused.value)
    assert not Judgment.objects.exists()
    assert read(table, "--where", "measure=7-point")["task"] == "likert"
    assert read(table, "--scale-low", "0", "--scale-high", "100", "--experiment", "t")["task"] == "slider"
