"""Files of tools without a format of their own: read as tables, or refused with the export to choose.

In ``exports``, ``labjs.csv`` is by lab.js 2018.1.1 (participants filled down), ``psychopy*.csv`` by psychopy
2025.2.4, ``opensesame.csv`` by opensesame-core 4.1.22, ``turktools.decoded.csv`` by ``decoder.py``,
``experigen*.tsv`` by ``dbwrite.cgi`` and ``makecsv.cgi`` of Experigen 0d0cfdb. LimeSurvey, SoSci Survey,
REDCap and SurveyMonkey have the columns of their source (LimeSurvey) or of files that others published.
Recognition was also run on published files: logs of E-Prime (tjmahr/rprime), REDCap (OuhscBbmc/REDCapR),
results of SurveyMan and of magpie 1 (magpie-ea/XOR_Experiment), DMDX as in its documentation.
"""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from experiments.materials.readers.detect import read_materials
from judgments.imports.readers import SourceOptions, read_judgments
from judgments.imports.readers.registry import parse_judgment_mapping

EXPORTS = Path(__file__).parent / "exports"
KEYS, CUPS = "The keys are here.", "The cups is there."
TRIALS = (("i1", "sg", KEYS, 6), ("i2", "pl", CUPS, 2))


def trial_table(columns, *, delimiter=",", people=("1", "2")):
    """A row for each participant and sentence under the tool's columns, as ``{participant}`` and so on."""
    lines = [delimiter.join(columns)]
    for person in people:
        for number, (item, condition, sentence, value) in enumerate(TRIALS, start=1):
            row = {
                "p": person,
                "n": number,
                "item": item,
                "cond": condition,
                "text": sentence,
                "value": value,
            }
            lines.append(delimiter.join(cell.format(**row) for cell in columns.values()))
    return "\n".join(lines)


def wide_table(columns, *rows):
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in (columns, *rows))


COMMON = {"item": "{item}", "condition": "{cond}", "sentence": "{text}"}
EPRIME = {
    "ExperimentName": "ajt",
    "Subject": "{p}",
    "Session": "1",
    **COMMON,
    "Judge.RESP": "{value}",
    "Judge.RT": "9",
}
#: Name → label, content or file of ``exports``, encoding, options, judged values by sentence.
BOTH = {KEYS: [6, 6], CUPS: [2, 2]}
READ = {
    "lab.js": (
        "data of lab.js",
        "labjs.csv",
        {"map": ["participant=participant", "value=response"], "where": {"sender": ("judgment",)}},
        {KEYS: [7, 7], "The keys is here.": [2, 2], "She left.": [7, 7], "She leave.": [2, 2]},
    ),
    "PsychoPy": (
        "trial-by-trial data of PsychoPy or Pavlovia",
        "psychopy.csv",
        {
            "map": [
                "participant=participant",
                "session=participant+session",
                "value=rating.response",
                "rt_ms=rating.rt",
            ]
        },
        {KEYS: [7], "The keys is here.": [2], "She left, I think.": [7], "She leave.": [2]},
    ),
    "OpenSesame": (
        "a log of OpenSesame",
        "opensesame.csv",
        {"map": ["participant=subject_nr", "value=response_judgment", "rt_ms=response_time_judgment"]},
        dict.fromkeys((KEYS, "The keys is here.", "She left, I think.", "She leave, I think."), [5, 5]),
    ),
    "Turktools": (
        "decoded results of Turktools",
        "turktools.decoded.csv",
        {"map": ["item=Section+Item", "sentence=field_1", "value=Choice", "session=AssignmentId"]},
        {
            KEYS: [1, 2, 3],
            "The keys is here.": [1, 5, 7],
            "She left, I think.": [4, 5, 7],
            "She leave, I think.": [1, 3, 5],
        },
    ),
    "E-DataAid": (
        "a table of E-DataAid (E-Prime)",
        trial_table(EPRIME, delimiter="\t").encode("utf-16"),
        {"map": ["participant=Subject", "session=Subject+Session", "value=Judge.RESP", "rt_ms=Judge.RT"]},
        BOTH,
    ),
    "magpie": (
        "results of magpie",
        trial_table(
            {
                "submission_id": "{p}",
                "RT": "900",
                **COMMON,
                "response": "{value}",
                "trial_name": "main",
                "experiment_start_time": "1764400000",
            }
        ).encode(),
        {"map": ["participant=submission_id", "value=response"], "where": {"trial_name": ("main",)}},
        BOTH,
    ),
    "magpie 2": (  # columns as getResults of magpie-base writes them (src/Magpie.js at 03ad5cf)
        "results of magpie 2",
        wide_table(
            ("submission_id", *COMMON, "response", "age", "response_time", "experiment_start_time")
            + ("experiment_end_time", "experiment_duration", "prolific_pid"),
            *(
                (person, *cells, 900, 1764400000000, 1764400060000, 60000, "")
                for person in (1, 2)
                for cells in (
                    *((item, cond, text, value, "NA") for item, cond, text, value in TRIALS),
                    ("NA", "NA", "NA", "NA", 31),
                )
            ),
        ).encode(),
        {"map": ["participant=submission_id", "value=response", "rt_ms=response_time"]},
        BOTH,
    ),
    "Experigen": (
        "results of Experigen",
        "experigen-0d0cfdb.tsv",
        {"map": ["participant=userCode", "position=trialnumber", "value=response1"]},
        {
            KEYS: [6, 7],
            "The keys is here.": [1, 2],
            "She left, I think.": [5, 6],
            "She leave, I think.": [1, 1],
        },
    ),
    "SurveyMan": (
        "results of SurveyMan",
        trial_table(
            {
                "responseid": "sr{p}",
                "workerid": "w",
                "questionid": "{item}",
                "questiontext": "{text}",
                "optionid": "comp",
                "optiontext": "{value}",
            }
        ).encode(),
        {"map": ["participant=responseid", "item=questionid", "sentence=questiontext", "value=optiontext"]},
        BOTH,
    ),
    "LimeSurvey": (
        "results of LimeSurvey",
        wide_table(
            ("id", "submitdate", "lastpage", "startlanguage", "ipaddr", "R[SQ001]", "R[SQ002]"),
            *((person, "2026-11-29", 3, "en", "203.0.113.5", 6, 2) for person in (1, 2)),
        ).encode(),
        {"map": ["participant=id"], "answers": ("R*",)},
        {"R[SQ001]": [6, 6], "R[SQ002]": [2, 2]},
    ),
    "SoSci": (
        "data of SoSci Survey",
        wide_table(
            ("CASE", "QUESTNNR", "MODE", "STARTED", "RA01_01", "RA01_02"),
            ("Interview-Nummer", "Fragebogen", "Modus", "Start", "Urteil: 1", "Urteil: 2"),
            *((person, "base", "interview", "2026-11-29", 6, answer) for person, answer in ((1, 2), (2, -9))),
        ).encode(),
        {
            "map": ["participant=CASE"],
            "answers": ("RA01_*",),
            "missing": ("-9", "-1"),
            "where": {"MODE": ("interview",)},
        },
        {"RA01_01": [6, 6], "RA01_02": [2]},
    ),
    "REDCap": (
        "raw data of REDCap",
        wide_table(
            ("record_id", "redcap_event_name", "rate_1", "rate_2", "ratings_complete"),
            *((person, "baseline_arm_1", 6, 2, 2) for person in (1, 2)),
        ).encode(),
        {"map": ["participant=record_id"], "answers": ("rate_1", "rate_2")},
        {"rate_1": [6, 6], "rate_2": [2, 2]},
    ),
    "LimeSurvey with texts": (
        "results of LimeSurvey with the questions' texts",
        wide_table(
            (
                "Response ID",
                "Date submitted",
                "Last page",
                "Start language",
                f"Natural? [{KEYS}]",
                f"Natural? [{CUPS}]",
            ),
            *((person, "2026-11-29", 3, "en", 6, 2) for person in (1, 2)),
        ).encode("utf-8-sig"),
        {"map": ["participant=Response ID"], "answers": ("Natural*",)},
        BOTH,
    ),
    "LimeSurvey, JSON": (
        "results of LimeSurvey",
        json.dumps(
            {
                "responses": [
                    {"id": n, "submitdate": "x", "startlanguage": "en", "R_SQ001": "6"} for n in (1, 2)
                ]
            }
        ).encode(),
        {"map": ["participant=id"], "answers": ("R_*",)},
        {"R_SQ001": [6, 6]},
    ),
    "REDCap by field": (
        "data of REDCap with a row for each field",
        b"record,field_name,value\n1,rate_1,6\n1,age,30\n2,rate_1,5\n2,age,31\n",
        {"map": ["participant=record", "item=field_name"], "where": {"field_name": ("rate_1",)}},
        {"rate_1": [5, 6]},
    ),
    "SurveyMonkey": (  # unnamed columns belong to the question before them
        "results of SurveyMonkey",
        wide_table(
            ("Respondent ID", "Collector ID", "IP Address", "Natural?", "", "Language?"),
            ("", "", "", KEYS, CUPS, "Open-Ended Response"),
            *((person, 4, "203.0.113.5", 6, 2, "English") for person in (114001, 114002)),
        ).encode(),
        {"map": ["participant=Respondent ID"], "answers": ("Natural*",)},
        BOTH,
    ),
    "Google Forms": (
        "responses of Google Forms",
        wide_table(
            ("Timestamp", "Email Address", KEYS, CUPS, "How old are you?"),
            *(("11/29/2026 10:00:00", f"{person}@uni.example", 6, 2, 30) for person in "ab"),
        ).encode(),
        {"map": ["participant=Email Address"], "answers": ("*.",)},
        BOTH,
    ),
    "Google Forms with a grid": (
        "responses of Google Forms",
        wide_table(
            ("Timestamp", "Code", f"Natural? [{KEYS}]", f"Natural? [{CUPS}]"),
            *(("11/29/2026 10:00:00", person, 6, 2) for person in "ab"),
        ).encode(),
        {"map": ["participant=Code"], "answers": ("Natural*",)},
        BOTH,
    ),
    "SurveyMonkey of 2014": (
        "results of SurveyMonkey",
        wide_table(
            ("RespondentID", "CollectorID", "StartDate", "Natural?", ""),
            ("", "", "", KEYS, CUPS),
            *((person, 4, "11/29/2015", 6, 2) for person in (3292879998, 3292879538)),
        ).encode(),
        {"map": ["participant=RespondentID"], "answers": ("Natural*",)},
        BOTH,
    ),
}
FRAME = (
    "*** Header Start ***\r\nSubject: 1\r\n*** Header End ***\r\n\tLevel: 2\r\n\t*** LogFrame Start ***\r\n"
)
FRAME_2 = "*** Header Start ***\r\nVersionPersist: 1\r\nLevelName: Session\r\n".encode("utf-16-le")  # no mark
AZK = (
    f"\r\n{'*' * 70}\r\nSubject 3, 06/29/2015 13:02:46 on LAB1, refresh 16.67ms, ID D\r\n  Item       RT\r\n"
)
ZIL = "Subjects incorporated to date: 001\r\nData file started on machine LAB1\r\n\r\nItem 1, 662.5\r\n"
SCORES = "participant,LexTALE_score,native\np1,71.25,no\np2,88.75,no\n"
HITS = "HitId,HitTitle,Answer 1,Answer 2\n3A,Study,comp_1_3;2;1,comp_2_3;1;1,comp_3_3;0;1\n"
REFUSED = {
    "log of E-Prime": ("eprime-1-1.txt", FRAME.encode("utf-16"), "tab-delimited text"),
    "log of E-Prime without a byte order mark": ("Blending_001.txt", FRAME_2, "tab-delimited text"),
    "E-Prime in its own format": ("ajt-1-1.edat3", b"\xd0\xcf\x11\xe0", "tab-delimited text"),
    "DMDX": ("ajt.azk", (AZK + "    42   475.32\r\n").encode(), "a row for each response"),
    "DMDX, as text": ("ajt.txt", ZIL.encode(), "a row for each response"),
    "log of PsychoPy": ("ajt.log", b"0.4512 \tEXP \tCreated window1\n0.9 \tDATA \tKeypress: 7\n", ".csv"),
    "summary of PsychoPy": ("wide.csv", (EXPORTS / "psychopy-wide.csv").read_bytes(), "trial-by-trial"),
    "batch of Turktools": ("batch.csv", (EXPORTS / "turktools.csv").read_bytes(), "decoder.py"),
    "batch of a SurveyMan survey": ("hits.csv", HITS.encode(), "SurveyMan's report"),
    "scores of participants": ("scores.csv", SCORES.encode(), "background.lextale=LexTALE_score"),
    "SPSS": ("results.sav", b"$FL2@(#) SPSS DATA FILE\0\0", "CSV with values"),
    "Stata": ("results.txt", b"<stata_dta><header>\0", "nolabel"),
    "R": ("results.rds", b"\x1f\x8b\x08", "write.csv"),
    "VV file of LimeSurvey": (  # as vvexport of its export controller writes it
        "vvexport_1.csv",
        b"Response ID\tDate submitted\tNatural?\nid\tsubmitdate\tR_SQ001\n1\t2026-11-29\t7\n",
        "Export responses",
    ),
    "LimeSurvey for R": ("survey_1_R_data_file.csv", b"'1','2026-11-29','en','7'\n", "Answer codes"),
    "values of SoSci Survey": (
        "values.csv",
        '"VAR"\t"RESPONSE"\t"MEANING"\r\n"RA01"\t-9\t"Not answered"\r\n'.encode("utf-16"),
        "Download data",
    ),
    "API of SurveyMonkey": (
        "bulk.json",
        b'{"data": [{"id": "1", "analyze_url": "x", "collector_id": "4", "pages": []}]}',
        "Condensed",
    ),
    "dictionary of REDCap": (
        "dictionary.csv",
        b"field_name,form_name,section_header,field_type,field_label\nrate_1,ratings,,radio,Natural?\n",
        "All data, CSV / Microsoft Excel (raw data)",
    ),
    "REDCap as labels": (
        "labels.csv",
        b"Record ID,Event Name,The keys are here.\n1,Event 1,natural\n",
        "raw data",
    ),
}


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="export.csv"):
        path = tmp_path / name
        path.write_bytes((EXPORTS / content).read_bytes() if isinstance(content, str) else content)
        return path

    return write_file


def options(chosen):
    fields = {name: value for name, value in chosen.items() if name != "map"}
    return SourceOptions(mapping=parse_judgment_mapping(chosen["map"]), **fields)


def error(function, *args, **kwargs):
    with pytest.raises((BadInput, CommandError)) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_tables_of_tools_are_read_once_the_judgments_are_named(write):
    for name, (label, content, chosen, values) in READ.items():
        path = write(content)
        assert f"this is {label}" in error(read_judgments, path, "table"), name
        read = read_judgments(path, "table", options=options(chosen))
        trials = read.judgments[read.judgments["status"] == "answered"]
        stimuli = trials["text"].where(trials["text"] != "", trials["item"])
        assert trials["value"].groupby(stimuli).apply(sorted).to_dict() == values, name
        assert read.task == "likert", name


def test_the_remedy_names_the_columns_of_the_file(write):
    remedies = {
        "psychopy.csv": "value=instr_key.keys or rating.response rt_ms=instr_key.rt or rating.rt",
        "opensesame.csv": "value=response or response_judgment rt_ms=response_time or response_time_judgment",
    }
    for name, remedy in remedies.items():
        assert remedy in error(read_judgments, write(name), "table")
    named = b"study_id,redcap_event_name,gym___1,rate_1,rate_2,ratings_complete\n1,x,0,6,2,2\n"
    message = error(read_judgments, write(named), "table")  # ___ marks checkboxes
    assert "participant=study_id" in message and "(rate_1 or rate_2)" in message


def test_other_files_of_tools_are_refused_with_the_export_to_choose(write):
    for label, (name, content, remedy) in REFUSED.items():
        for format in ("table", "qualtrics", "mturk-batch"):
            if format == "table" or "Turktools" in label or "E-Prime" in label:
                message = error(read_judgments, write(content, name), format)
                assert remedy in message and message.count("\n") < 10, (label, format, message)


def test_a_table_that_has_all_columns_is_read_although_it_resembles_an_export(write):
    path = write(
        b"record_id,x_complete,participant,item,sentence,rating\n1,2,p1,1,She left.,6\n2,2,p1,2,He left.,3\n"
    )
    assert read_judgments(path, "table").counts["answered"] == 2


def test_rows_without_an_answer_and_without_a_sentence_are_left_out_and_counted():
    chosen = options(READ["PsychoPy"][2])
    read = read_judgments(EXPORTS / "psychopy.csv", "table", options=chosen)
    assert read.counts["missing"] == 0
    assert "1 row left out: without an answer, and nothing was judged" in read.notes


def test_results_are_no_materials(write):
    files = [("export.csv", content) for _, content, _, _ in READ.values()]
    files += [(name, content) for name, content, _ in REFUSED.values()]
    files += [
        ("ours.csv", (EXPORTS / name).read_bytes()) for name in ("qualtrics.csv", "gorilla.csv", "otree.csv")
    ]
    for name, content in files:
        assert "no table of sentences" in error(read_materials, [write(content, name)]), name


@pytest.mark.django_db
def test_auto_and_the_page_name_the_tool(write, ada, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    path = write(FRAME.encode("utf-16"), "eprime-1-1.txt")
    message = error(call_command, "import_judgments", path, experiment="ratings", format="auto")
    assert "this is a log of E-Prime" in message and "E-DataAid" in message
    upload = SimpleUploadedFile(path.name, path.read_bytes())
    sent = ada.post("/judgments/import/", {"file": upload, "experiment": "ratings", "format": "auto"})
    assert "this is a log of E-Prime" in ada.get(sent.url).content.decode()


def test_rows_that_repeat_the_last_answer_of_opensesame_are_left_out(write):
    lines = (EXPORTS / "opensesame.csv").read_text(encoding="utf-8-sig").splitlines(keepends=True)
    filler = lines[1].replace(KEYS, "A filler without a question.")  # count_judgment stays as it was
    path = write("".join([*lines[:2], filler, *lines[2:]]).encode())
    read = read_judgments(path, "table", options=options(READ["OpenSesame"][2]))
    assert "A filler without a question." not in set(read.judgments["text"])
    assert any("1 row left out: count_judgment shows" in note for note in read.notes)


def test_a_slider_of_sosci_survey_counts_from_1(write):
    rows = (
        (person, "base", "interview", "2026-11-29", *ends) for person, ends in ((1, (101, 1)), (2, (64, 30)))
    )
    path = write(wide_table(("CASE", "QUESTNNR", "MODE", "STARTED", "RA01_01", "RA01_02"), *rows).encode())
    read = read_judgments(
        path, "table", options=options({"map": ["participant=CASE"], "answers": ("RA01_*",)})
    )
    assert (read.task, read.scale) == ("slider", (1, 101))


def test_commas_that_experigen_replaced_are_named(write):
    read = read_judgments(write("experigen-0d0cfdb.tsv"), "table", options=options(READ["Experigen"][2]))
    assert any("the tool writes in its place (4 cells)" in note for note in read.notes)
