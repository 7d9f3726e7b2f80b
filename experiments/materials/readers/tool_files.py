"""Data files of tools for experiments and surveys that no format takes as they are.

Each is recognized by its name, its first bytes or its columns. Some are read as a table once the user has
said which column holds the judgments; the others are refused with the export to choose instead.
"""

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path

from analysis.errors import BadInput
from experiments.materials.delimited import first_lines
from experiments.materials.encoding import BINARY_SUFFIXES

_HEAD_BYTES = 64 * 1024  # headers of tools that log every variable have 10 kB
_KEY = re.compile(r'"([^"\\]+)"\s*:')
_SHOWN, _SHOWN_CHARACTERS = 6, 160  # columns that a message lists, and characters of them together
_AS_TABLE = "--format table"


@dataclass(frozen=True)
class Tool:
    """A kind of file that a tool writes.

    Attributes
    ----------
    label : str
        What the file is.
    remedy : str
        The export to choose, or the options with which it is read; ``{answers}`` and ``{times}`` are replaced
        by the columns of the file that ``answers`` and ``times`` match, ``{first}`` by the first column.
    columns : tuple of str
        Columns by which it is recognized, with ``*``; of alternatives joined by ``|`` one is enough, and
        ``!`` precedes a column that it does not have.
    text : str
        Regular expression that the beginning of its text contains.
    suffixes : tuple of str
        Ends of its name, in lower case.
    answers, times : tuple of str
        Columns that may hold the answers and the response times, with ``*``.
    is_readable : bool
        Whether a table of judgments is read from it.
    has_other_rows : bool
        Whether rows that are no judgments are among the others, so that they have to be chosen.
    replaces : tuple of (str, str)
        Characters that the tool writes in place of others, and the others.
    """

    label: str
    remedy: str
    columns: tuple[str, ...] = ()
    text: str = ""
    suffixes: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    is_readable: bool = True
    has_other_rows: bool = False
    replaces: tuple[tuple[str, str], ...] = ()


_WIDE = "--answers names the columns of one sentence each ({answers})"
TOOLS: Sequence[Tool] = (
    Tool(
        "a log of E-Prime, one participant in nested frames",
        "Open the .edat files in E-DataAid (several joined by E-Merge), export them as tab-delimited text "
        f"(File, Export, Other), and import that file: {_AS_TABLE} --map participant=Subject "
        "session=Subject+Session value=NAME.RESP rt_ms=NAME.RT.",
        text=r"\A\s*\*\*\* Header Start \*\*\*",
        is_readable=False,
    ),
    Tool(
        "a data file of E-Prime in its own format",
        "Export it in E-DataAid as tab-delimited text (File, Export, Other), and import that file.",
        suffixes=(".edat", ".edat2", ".edat3", ".emrg", ".emrg2", ".emrg3"),
        is_readable=False,
    ),
    Tool(
        "a table of E-DataAid (E-Prime)",
        f"{_AS_TABLE} --map participant=Subject session=Subject+Session value={{answers}} rt_ms={{times}}",
        columns=("ExperimentName", "Subject", "Session"),
        answers=("*.RESP",),
        times=("*.RT",),
    ),
    Tool(
        "a data file of DMDX, with response times by item and no ratings",
        "Make a table with a row for each response (participant, item, sentence, value, rt_ms). A "
        "negative time marks the answer that the item file calls wrong: with the expected status it gives "
        "value 0 or 1.",
        text=r"Subjects incorporated to date:|\A\s*\*{20,}\s+Subject?\s*\d+, \d\d/\d\d/\d{4} ",
        suffixes=(".azk", ".zil"),
        is_readable=False,
    ),
    Tool(
        "a log of PsychoPy, with every event",
        "Give the .csv that PsychoPy wrote beside it (trial by trial); on Pavlovia, the CSV results.",
        text=r"\A\d+\.\d+ +\t(?:EXP|DATA|INFO|WARNING|DEBUG)\s",
        is_readable=False,
    ),
    Tool(
        "a data file of PsychoPy in Python's own format",
        "Give the .csv that PsychoPy wrote beside it (trial by trial); on Pavlovia, the CSV results.",
        suffixes=(".psydat",),
        is_readable=False,
    ),
    Tool(
        "a summary of PsychoPy, with several answers in a row or none by participant",
        "Give the trial-by-trial .csv (Experiment settings, Data, Save csv file); on Pavlovia, the CSV "
        "results.",
        columns=("*_raw|*_mean|ran", "order|n", "*.response*|*.keys*|*.rt*|ran"),
        is_readable=False,
    ),
    Tool(
        "trial-by-trial data of PsychoPy or Pavlovia",
        f"{_AS_TABLE} --map participant=participant session=participant+session value={{answers}} "
        "rt_ms={times}",
        columns=("psychopyVersion|expName", "frameRate|*.thisN|*.thisTrialN"),
        answers=("*.response", "*.keys", "*.clicked_name", "*.text", "*.rating"),
        times=("*.rt",),
    ),
    Tool(
        "data of lab.js, with a row for each screen",
        f"{_AS_TABLE} --where sender=NAME (the screen of the judgment) --map participant=COLUMN "
        "value={answers} rt_ms=duration. lab.js names no participant unless the study does: add a "
        "column to each file, or join the files in lab.js' collection.",
        columns=("sender", "sender_type|sender_id", "timestamp|time_run|ended_on"),
        answers=("response", "rating*", "answer*", "judg*", "acceptability*"),
        has_other_rows=True,
    ),
    Tool(
        "results of magpie, with a row for each trial of every kind",
        f"{_AS_TABLE} --where trial_name=NAME (the view of the judgments) --map participant=submission_id "
        "value={answers} rt_ms={times}",
        columns=("submission_id", "trial_name|trial_type", "RT|experiment_start_time|startDate"),
        answers=("response", "rating*", "slider*"),
        times=("RT", "response_time"),
        has_other_rows=True,
    ),
    Tool(
        "results of magpie 2, where NA fills the cells of trials of other kinds",
        f"{_AS_TABLE} --map participant=submission_id value={{answers}} rt_ms={{times}}; where several kinds "
        "of trials have an answer of this name, --where COLUMN=VALUE chooses.",
        columns=("submission_id", "response_time", "experiment_start_time|experiment_end_time"),
        answers=("response", "rating*", "slider*", "answer*"),
        times=("response_time",),
    ),
    Tool(
        "a log of OpenSesame",
        f"{_AS_TABLE} --map participant=subject_nr value={{answers}} rt_ms={{times}}",
        columns=(
            "subject_nr|subject_parity",
            "count_*|logfile",
            "opensesame_*|experiment_file|datetime|title",
        ),
        answers=("response_*", "response"),
        times=("response_time_*", "response_time"),
    ),
    Tool(
        "a VV file of LimeSurvey, with two rows of column names",
        "Export the responses instead (Responses, Export, Export responses): CSV, Answer codes.",
        text=r"\A[^\n]*\n\"?id\"?\t(?:\"?token\"?\t)?\"?submitdate\"?\t",
        is_readable=False,
    ),
    Tool(
        "data of LimeSurvey for R or SPSS, where the codes of answers are changed (yes to 2 or to 1)",
        "Export the responses as CSV instead (Responses, Export, Export responses): Answer codes.",
        suffixes=("_r_data_file.csv", "_spss_data_file.dat"),
        is_readable=False,
    ),
    Tool(
        "results of LimeSurvey with the questions' texts as column names",
        f"{_AS_TABLE} --map 'participant=Response ID' (or id) --answers 'QUESTION*'; {_WIDE}, whose text is "
        "in the brackets. Export with Responses: Answer codes.",
        columns=("Date submitted|Completed", "Last page|Last page seen", "Start language"),
        answers=("*[[]*[]]",),
    ),
    Tool(
        "results of LimeSurvey, with a column for each question",
        f"{_AS_TABLE} --map participant=id --answers 'CODE*'; {_WIDE}. Export with Responses: Answer codes.",
        columns=("submitdate|lastpage", "startlanguage"),
        answers=("*[[]*[]]*", "*_SQ*"),
    ),
    Tool(
        "a list of the questions or of their values of SoSci Survey, without answers",
        "Download the data: Collected data, Download data, CSV.",
        columns=("VAR", "MEANING|LABEL"),
        is_readable=False,
    ),
    Tool(
        "data of SoSci Survey, with a column for each question",
        f"{_AS_TABLE} --map participant=CASE --answers 'XX01_*' --missing -9 -1 --where MODE=interview; "
        f"{_WIDE}. Download the data with values, not labels; a row of labels and tests of the survey have "
        "another MODE.",
        columns=("CASE", "QUESTNNR", "STARTED|MODE"),
        answers=("[A-Z][A-Z][0-9][0-9]*",),
    ),
    Tool(
        "a data dictionary of REDCap, without answers",
        "Export the data: Data Exports, Reports, and Stats, All data, CSV / Microsoft Excel (raw data).",
        columns=("field_name|Variable / Field Name", "form_name|Form Name", "field_type|Field Type"),
        is_readable=False,
    ),
    Tool(
        "data of REDCap as labels",
        "Export again as CSV / Microsoft Excel (raw data), then name the columns of one sentence each: "
        f"{_AS_TABLE} --map participant=record_id --answers 'NAME*'.",
        columns=("Record ID", "Event Name|Repeat Instrument|Survey Identifier|Complete?"),
    ),
    Tool(
        "data of REDCap with a row for each field",
        f"{_AS_TABLE} --map participant=record item=field_name value=value --where field_name=NAME …, with "
        "the fields that are judgments.",
        columns=("record", "field_name", "value"),
        has_other_rows=True,
    ),
    Tool(
        "raw data of REDCap, with a column for each question",
        f"{_AS_TABLE} --map participant={{first}} --answers 'NAME*'; {_WIDE}.",
        columns=("record_id|redcap_*|*_timestamp", "redcap_*|*_complete"),
        answers=("*[!_]_[0-9]", "*[!_]_[0-9][0-9]", "*[a-z][0-9]", "*[a-z][0-9][0-9]"),
    ),
    Tool(
        "responses from the API of SurveyMonkey",
        "Export all responses as CSV with Columns: Condensed and Cells: Numerical value.",
        columns=("analyze_url", "collector_id"),
        is_readable=False,
    ),
    Tool(
        "results of SurveyMonkey, with a column for each question",
        f"{_AS_TABLE} --map 'participant={{first}}' --answers 'QUESTION*'; {_WIDE}. Export all responses "
        "with Columns: Condensed and Cells: Numerical value.",
        columns=("Respondent ID|respondent_id|RespondentID", "Collector ID|collector_id|CollectorID"),
        answers=("* - *",),
    ),
    Tool(
        "a batch of Turktools with one sentence for each item",
        f"Run decoder.py of Turktools on it and import the file *.decoded.csv: {_AS_TABLE} --map "
        "item=Section+Item condition=Condition sentence=field_1 value=Choice position=PresentationOrder "
        "session=AssignmentId.",
        columns=("Input.item_1_section", "Input.field_1_1", "!Input.field_1_2"),
        is_readable=False,
    ),
    Tool(
        "decoded results of Turktools",
        f"{_AS_TABLE} --map item=Section+Item condition=Condition sentence=field_1 value={{answers}} "
        "position=PresentationOrder session=AssignmentId",
        columns=("Section", "PresentationOrder", "field_1", "Item"),
        answers=("Choice", "Answer", "Rating", "Judgment", "Likert"),
    ),
    Tool(
        "results of Experigen",
        f"{_AS_TABLE} --map participant=userCode position=trialnumber item=COLUMN sentence=COLUMN "
        "value={answers} rt_ms={times}; --where view=NAME takes the screens of one view.",
        columns=("userCode", "userFileName|experimentName|sourceurl"),
        answers=("response*",),
        times=("rt*", "responseTime*", "*RT"),
        replaces=(("\u201a", ","),),
    ),
    Tool(
        "results of SurveyMan",
        f"{_AS_TABLE} --map participant=responseid item=questionid sentence=questiontext "
        "position=questionpos value=optiontext; --where chooses the questions that are judgments, "
        "--labels gives words their points.",
        columns=("questionid", "optionid", "responseid|workerid"),
    ),
    Tool(
        "a batch of a SurveyMan survey from MTurk, with coded answers",
        "Run SurveyMan's report on it (survey.csv with the results), and import the table with "
        "questiontext and optiontext that it writes.",
        columns=("HitId", "HitTitle", "Answer 1"),
        is_readable=False,
    ),
    Tool(
        "a file of SPSS",
        "Save it as CSV with values, not labels (File, Save as); surveys export CSV themselves.",
        text=r"\A\$FL[23]@\(#\)",
        suffixes=(".sav", ".zsav", ".por"),
        is_readable=False,
    ),
    Tool(
        "a file of Stata",
        "Save it as CSV without labels: export delimited using FILE.csv, nolabel.",
        text=r"\A<stata_dta>",
        suffixes=(".dta",),
        is_readable=False,
    ),
    Tool(
        "a file of R",
        "Save its data frame as CSV: write.csv(data, 'FILE.csv', row.names = FALSE).",
        suffixes=(".rds", ".rda", ".rdata"),
        is_readable=False,
    ),
    *(
        Tool(f"a file of {label}", f"Import it with --format {format}.", columns=columns, text=text)
        for label, format, columns, text in (
            ("PCIbex", "pcibex", (), r"\A\s*#[\s\S]*PennElementName"),
            ("Ibex", "ibex", (), r"\A\s*#[\s\S]*(?:Controller name|\.\.\.First 7\.\.\.)"),
            ("jsPsych", "jspsych", ("trial_type", "trial_index", "time_elapsed|internal_node_id"), ""),
            ("Qualtrics", "qualtrics", ("StartDate", "ResponseId", "Status"), ""),
            ("Gorilla", "gorilla", ("Event Index", "Participant Private ID"), ""),
            ("oTree", "otree", ("participant.code", "*.1.player.*"), ""),
            ("the requester site of MTurk", "mturk-batch", ("HITId", "AssignmentId", "Input.*"), ""),
        )
    ),
    Tool(
        "responses of Google Forms, with a column for each question",
        f"{_AS_TABLE} --map 'participant=Email Address' (or {{first}}, if no question names the participant) "
        f"--answers 'QUESTION*', or '*.' for questions that end in a point; {_WIDE}.",
        columns=(
            "Timestamp|Zeitstempel|Horodateur|Marca temporal|Informazioni cronologiche",
            "* * *|*[[]*[]]",
        ),
        answers=("*[[]*[]]", "* * *"),
    ),
    Tool(
        "scores of participants, with no judgment of a sentence",
        "Join them to the file of judgments by participant, and keep them with participants: --map "
        "background.lextale={answers}.",
        columns=("*[Ll][Ee][Xx][Tt][Aa][Ll][Ee]*|*proficiency_score*|*vocab_score*",),
        answers=("*[Ll][Ee][Xx][Tt][Aa][Ll][Ee]*", "*score*"),
    ),
)


@dataclass(frozen=True)
class ToolFile:
    """A file that a tool wrote, with its columns as far as they are known."""

    tool: Tool
    columns: Sequence[str] = ()

    @property
    def remedy(self) -> str:
        """What to do, with the columns of the file."""
        times = matching_columns(self.columns, "|".join(self.tool.times))
        answers = matching_columns(self.columns, "|".join(self.tool.answers))
        remedy = self.tool.remedy.replace("{first}", (*self.columns, "COLUMN")[0][:_SHOWN_CHARACTERS])
        for field, names in (("answers", [name for name in answers if name not in times]), ("times", times)):
            fitting = [
                name
                for name, length in zip(names, accumulate(map(len, names)), strict=True)
                if length <= _SHOWN_CHARACTERS
            ]
            shown = fitting[:_SHOWN] or [f"{name[:_SHOWN_CHARACTERS]}…" for name in names[:1]]
            listed = " or ".join(shown) + (" …" if len(names) > len(shown) else "")
            remedy = remedy.replace(f"{{{field}}}", listed or "COLUMN")
        return remedy


def find_tool(path: Path) -> ToolFile | None:
    """Return the tool that wrote a file, from its name and first bytes; None if none is known."""
    name = path.name.lower()
    by_name = next((tool for tool in TOOLS if tool.suffixes and name.endswith(tool.suffixes)), None)
    if by_name or path.is_dir() or path.suffix.lower() in BINARY_SUFFIXES:
        return ToolFile(by_name) if by_name else None
    text = _read_head(path)
    by_text = next((tool for tool in TOOLS if tool.text and re.search(tool.text, text)), None)
    if by_text:
        return ToolFile(by_text)
    return next(filter(None, map(find_tool_by_columns, _possible_columns(text))), None)


def find_tool_by_columns(names: Sequence[str]) -> ToolFile | None:
    """Return the tool whose tables have these columns; None if none is known."""
    tool = next((tool for tool in TOOLS if tool.columns and has_columns(names, tool.columns)), None)
    return ToolFile(tool, names) if tool else None


def has_columns(names: Sequence[str], signature: Sequence[str]) -> bool:
    """Return whether a table has the columns of a signature, see :class:`Tool`.

    Examples
    --------
    >>> has_columns(["user", "q:::1"], ["user|user_id", "*:::*", "!item"])
    True
    """
    return all(
        not matching_columns(names, pattern[1:])
        if pattern.startswith("!")
        else matching_columns(names, pattern)
        for pattern in signature
    )


def matching_columns(names: Sequence[str], pattern: str) -> list[str]:
    """Return the columns that match one of the patterns joined by ``|``."""
    parts = pattern.split("|")
    return [name for name in names if any(fnmatchcase(name, part) for part in parts)]


def refuse_unreadable(path: Path) -> None:
    """Refuse a file from which no reader takes judgments, with the export to choose instead."""
    tool_file = find_tool(path)
    if tool_file and not tool_file.tool.is_readable:
        raise BadInput(f"this is {tool_file.tool.label}.", file=path.name, remedy=tool_file.remedy)


def refuse_results(path: Path) -> None:
    """Refuse a file of results that is given as materials."""
    if tool_file := find_tool(path):
        other = "" if tool_file.tool.is_readable else f" {tool_file.remedy}"
        raise BadInput(
            f"this is {tool_file.tool.label}; it is no table of sentences.",
            file=path.name,
            remedy=f"Give a table of the sentences; judgments are imported on Import judgments.{other}",
        )


def _read_head(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return ""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "ignore")
    return head.replace(b"\0", b"").decode("utf-8-sig", "ignore")


def _possible_columns(text: str) -> Iterator[list[str]]:
    """Yield the names of the fields of JSON, or the cells of the first lines, one of which is the header."""
    if text.lstrip()[:1] in ("[", "{"):
        yield list(dict.fromkeys(_KEY.findall(text)))
        return
    for _, cells in first_lines(text, n_rows=3):
        yield [cell.strip() for cell in cells]
