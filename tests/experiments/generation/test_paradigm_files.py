"""The language of paradigms: what a file may say; one line with file, table and remedy where it is wrong."""

import pytest

from analysis.errors import BadInput
from experiments.generation.paradigms import read_paradigm
from tests.experiments.generation.small_lexicon import small_lexicon

HEAD = """
format = 1
uid = "trial"
language = "en"
phenomenon = "anaphor_agreement"
field = "morphology"
definition = "The reflexive agrees with its antecedent."
"""
BODY = """
[draw]
g = ["f", "m"]
[slots]
subject = { category = "noun", where = { class = "person", gender = "$g" } }
act = { category = "verb", where = { reflexive = "natural" }, form = "past" }
refl = { category = "refl", where = { gender = "$g" } }
[[frames]]
good = "the {subject} {act} {refl}."
[[frames]]
good = "a {subject} {act} {refl} again."
[contrast]
replace = { refl = { where = { gender = "!$g" } } }
"""


def read(tmp_path, text, *, name="trial.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_paradigm(path, lexicon=small_lexicon())


def test_a_paradigm_is_read(tmp_path):
    paradigm = read(tmp_path, HEAD + BODY)
    assert (paradigm.uid, paradigm.n_frames, dict(paradigm.draw)) == ("trial", 2, {"g": ("f", "m")})
    assert [slot.name for slot in paradigm.frames[0].slots] == ["subject", "act", "refl"]
    assert paradigm.combinations == [{"g": "f"}, {"g": "m"}]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    path = tmp_path / "trial.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + BODY).replace("\n", "\r\n").encode())
    assert read_paradigm(path, lexicon=small_lexicon()).definition.startswith("The reflexive")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('uid = "trial"', 'uid = "try"'), "trial.toml: uid is 'try'"),
        (('"morphology"', '"morphologic"'), "unknown field 'morphologic'. Did you mean morphology"),
        (("anaphor_agreement", "anaphors"), "unknown phenomenon 'anaphors'"),
        (('language = "en"', 'language = "xx"'), "unknown language 'xx'"),
        (("format = 1", "format = 2"), "format is 2. Write format = 1."),
        (("definition", "definiton"), "unknown key 'definiton'. Did you mean definition"),
        (('definition = "The reflexive agrees with its antecedent."', ""), "definition is missing"),
        (('category = "refl"', 'category = "reflexive"'), "slots.refl: unknown category 'reflexive'"),
        (
            ("reflexive =", "reflexiv ="),
            "slots.act: unknown column of verb 'reflexiv'. Did you mean reflexive",
        ),
        (('"natural"', '"naturl"'), "slots.act: unknown reflexive 'naturl'. Did you mean natural"),
        (
            ('class = "person"', 'class = "persn"'),
            "slots.subject: unknown class 'persn'. Did you mean person",
        ),
        (('form = "past"', 'forms = "past"'), "slots.act: unknown key of a slot 'forms'. Did you mean form"),
        (('"f", "m"]', '"f"]'), "draw.g: $g has 1 value"),
        (
            ("{subject} {act} {refl}.", "{subjects} {act} {refl}."),
            "frames 1: {subjects} is no slot. There are:",
        ),
        (("{refl}.", "{refl}"), "frames 1.good: the text has no final mark"),
        (("{refl}.", "{refl}}."), "a brace is alone"),
        (("the {subject}", "the <b>{subject}"), "control characters or markup"),
        (
            ('{ category = "refl",', '{ category = "refl", words = ["us"],'),
            "slots.refl: category and words together",
        ),
        (('category = "verb", ', ""), "slots.act: nothing fills the slot"),
        (("[contrast]\n", '[contrast]\nform = { act = "ing" }\n'), "contrast: form and replace. Keep one"),
        (("replace = { refl", "replace = { reflx"), "{reflx} is no slot"),
        (('gender = "!$g" } } }', 'gender = "!$h" } } }'), "contrast: $h is never bound. Add it to [draw]"),
        (('form = "past" }', 'form = "past", fits = "act.subject" }'), "slots need each other in a circle"),
        (
            ('form = "past" }', 'form = "past", fits = "subject.gender" }'),
            "unknown column of selection 'gender'",
        ),
        (('form = "past" }', 'form = "past", differ = "nobody" }'), "unknown slot 'nobody'"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path, change, message):
    old, new = change
    text = HEAD + BODY
    assert old in text
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text.replace(old, new, 1))
    assert message in str(caught.value) and str(caught.value).startswith(("trial.toml", "unknown"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ('order = "{refl} the {subject} {act} twice."', "order has other words than good"),
        ('template = "the {subject} {act}."', "template has no reason"),
        ('exchange = ["subject"]', "exchange takes two slots"),
        ('form = { act = "ing", subject = "pl" }', "form changes act, subject"),
        ("replace = { refl = { words = [] } }", "words is empty"),
    ],
)
def test_a_contrast_changes_one_thing(tmp_path, contrast, message):
    text = HEAD + BODY.split("[contrast]")[0] + f"[contrast]\n{contrast}\n"
    with pytest.raises(BadInput, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"format = ", "not TOML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"format = 1\x00", "not TOML"),
        (b"format = " + b"9" * 5_000, "not TOML"),
        (b"#" * 1_000_001, "1,000,001 bytes"),
        ("format = 1 # \u202e".encode(), "text direction"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, content, message):
    path = tmp_path / "trial.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=message):
        read_paradigm(path, lexicon=small_lexicon())


def test_a_phrase_expands_a_frame_and_others_refer_to_its_head(tmp_path):
    text = (HEAD + BODY).replace(
        'subject = { category = "noun", where = { class = "person", gender = "$g" } }',
        'subject = { use = "np.person", where = { gender = "$g" } }',
    )
    paradigm = read(tmp_path, text)
    assert paradigm.n_frames == 2 and len(paradigm.frames) > 2
    assert all("subject.head" in {slot.name for slot in frame.slots} for frame in paradigm.frames)
    with pytest.raises(BadInput, match=r"slots.subject: unknown macro 'np.persn'. Did you mean np.person"):
        read(tmp_path, text.replace("np.person", "np.persn"))


WRONG_VALUES = ("3", "-1", "true", '""', "[]", "{}", "[1, 2]", "{ a = 1 }", '"$q"', "[[]]", "nan", '"@x.y"')


@pytest.mark.parametrize("value", WRONG_VALUES)
def test_no_value_of_another_kind_breaks_the_reader(tmp_path, value):
    """Every line that gives a key gets the value instead; what cannot be read is bad input."""
    lines = (HEAD + BODY).splitlines()
    n_refused = 0
    for number, line in enumerate(lines):
        if " = " not in line:
            continue
        changed = [*lines[:number], f"{line.split(' = ')[0]} = {value}", *lines[number + 1 :]]
        try:
            read(tmp_path, "\n".join(changed))
        except BadInput as error:
            n_refused += 1
            assert "trial.toml" in str(error) or "unknown" in str(error)
    assert n_refused >= 10


@pytest.mark.parametrize(
    "line",
    [
        "limits = { share = 'x' }",
        "limits = { length = -1 }",
        "slots.act = { category = 'verb', weight = { band = 3 } }",
        "slots.act = { category = 'verb', weight = { band = { common = 0 } } }",
        "frames = [{ good = 'the {act}.', when = 3 }]",
        "slots.act = { category = 'verb', where = 3 }",
    ],
)
def test_numbers_and_tables_are_checked(tmp_path, line):
    slots = 'slots.refl = { words = ["here"] }\n' if line.startswith("slots") else ""
    frames = "" if line.startswith("frames") else 'frames = [{ good = "the {act} {refl}." }]\n'
    other = (
        "" if line.startswith("slots") else 'slots.act = { words = ["x"] }\nslots.refl = { words = ["y"] }\n'
    )
    contrast = 'contrast = { replace = { act = { words = ["q"] } } }\n'
    with pytest.raises(BadInput, match="trial.toml"):
        read(tmp_path, HEAD + slots + other + frames + contrast + line)
