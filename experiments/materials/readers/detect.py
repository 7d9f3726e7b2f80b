"""Detect the format of material files from their first lines, and read them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from analysis.errors import BadInput, UnknownName
from experiments.materials.collection import Materials, Source
from experiments.materials.delimited import NO_HEADER, UNNAMED, table_from
from experiments.materials.encoding import Encoding, read_text
from experiments.materials.factors import Levels
from experiments.materials.readers import climp, li_adger
from experiments.materials.readers.blimp import BAD, GOOD, read_blimp
from experiments.materials.readers.dataset_folders import is_dataset
from experiments.materials.readers.json_text import NotJSON, parse_json
from experiments.materials.readers.layout import Split, find_header, top_rows
from experiments.materials.readers.sheets import Sheet, is_json
from experiments.materials.readers.spreadsheets import SUFFIXES as SPREADSHEET_SUFFIXES
from experiments.materials.readers.spreadsheets import is_spreadsheet
from experiments.materials.readers.syntaxgym import is_suite, read_syntaxgym
from experiments.materials.readers.table import read_tables
from experiments.materials.readers.tool_files import refuse_results
from experiments.materials.schema import FORMATS

SUFFIXES = (
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".gz", ".zip", ".arrow"),
    *SPREADSHEET_SUFFIXES,
)
JSON_SUFFIXES = {".json", ".jsonl", ".ndjson"}


def read_materials(
    paths: Sequence[Path],
    *,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
    levels: Levels | None = None,
    encoding: Encoding = "",
    sheet: str = "",
    sheets: Sequence[Sheet] = (),
    split_paradigms: bool = False,
    header_row: int = 0,
    split: Split | None = None,
) -> Materials:
    """Read material files of any supported format; ``sheets`` are their tables, if already read.

    ``header_row`` and ``split`` are for tables, see :func:`~experiments.materials.readers.table.read_tables`.
    """
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    if (mapping or levels) and format not in ("auto", "table"):
        raise BadInput("columns can be mapped in the format table only.", remedy="Use --format table.")
    files = material_files(paths, has_datasets=format in ("auto", "table"))
    chosen, is_arranged = format, bool(mapping or levels or header_row or split)
    if format in ("auto", "table") and not is_arranged:
        for file in files:
            refuse_results(file)
    if format == "auto":
        chosen = "table" if is_arranged else _detect(files, encoding=encoding, sheets=sheets, sheet=sheet)
    if chosen == "blimp":
        return read_blimp(files, encoding=encoding)
    if chosen == "climp":
        return climp.read_climp(files, encoding=encoding)
    if chosen == "li-adger":
        return li_adger.read_li_adger(files, encoding=encoding)
    if chosen == "syntaxgym":
        return read_syntaxgym(files, encoding=encoding)
    try:
        materials = read_tables(
            files,
            mapping=mapping,
            levels=levels,
            encoding=encoding,
            sheet_name=sheet,
            sheets=sheets,
            split_paradigms=split_paradigms,
            header_row=header_row,
            split=split,
        )
    except BadInput:
        if not header_row:
            _refuse_later_header(files, encoding=encoding, sheet=sheet)
        raise
    if not is_arranged:  # a title above the column names makes them look like data
        unclear = {source.file for source in materials.sources if _looks_untitled(source)}
        _refuse_later_header([file for file in files if file.name in unclear], encoding=encoding, sheet=sheet)
    return materials


def _looks_untitled(source: Source) -> bool:
    """Return whether a table has columns without names of their own."""
    return any(NO_HEADER in note for note in source.notes) or any(
        name.startswith(UNNAMED) for name in source.columns
    )


def _detect(files: Sequence[Path], *, encoding: Encoding, sheets: Sequence[Sheet], sheet: str) -> str:
    """Return the common format; name the row of the header where it is not the first."""
    try:
        return common_format(files, encoding=encoding, sheets=sheets)
    except BadInput:
        _refuse_later_header(files, encoding=encoding, sheet=sheet)
        raise


def _refuse_later_header(files: Sequence[Path], *, encoding: Encoding, sheet: str) -> None:
    """Refuse a file whose column names are below its first row, with the option that names the row."""
    for file in files:
        rows: list[tuple[int, list[str]]] = []
        with suppress(BadInput):  # the reader has said what is wrong with the file
            rows = top_rows(file, encoding=encoding, sheet=sheet)
        if number := find_header(rows):
            names = ", ".join(cell.strip() for cell in dict(rows)[number] if cell.strip())
            raise BadInput(
                f"the column names are not in the first row: row {number} has {names[:80]}.",
                file=file.name,
                row=number,
                remedy=f"Give --header-row {number}, or choose that row on the page.",
            )


def material_files(paths: Sequence[Path], *, has_datasets: bool = True) -> list[Path]:
    """Return the files that the paths name; of a folder its JSON lines files, else all files.

    A dataset folder of Hugging Face stays one path if datasets are read.
    """
    files: list[Path] = []
    for path in paths:
        if has_datasets and is_dataset(path):
            files.append(path)
        elif path.is_dir():
            candidates = sorted(
                file for file in path.iterdir() if file.is_file() and file.suffix.lower() in SUFFIXES
            )
            json_lines = [file for file in candidates if ".jsonl" in file.suffixes]
            if not candidates:
                raise BadInput(
                    "the folder contains no material file.", file=path.name, remedy="Give CSV, TSV or JSONL."
                )
            files += json_lines or candidates
        elif path.is_file():
            files.append(path)
        else:
            raise BadInput("there is no such file.", file=str(path))
    if not files:
        raise BadInput("no file given.", remedy="Name one or more files or folders.")
    return files


def common_format(files: Sequence[Path], *, encoding: Encoding = "", sheets: Sequence[Sheet] = ()) -> str:
    """Return the format that all files have in common."""
    tables: Sequence[Sheet | None] = sheets or [None] * len(files)
    formats = {
        file.name: file_format(file, encoding=encoding, sheet=sheet)
        for file, sheet in zip(files, tables, strict=True)
    }
    if len(set(formats.values())) > 1:
        examples = ", ".join(f"{name} is {form}" for name, form in list(formats.items())[:5])
        raise BadInput(
            f"the files have different formats: {examples}.",
            remedy="Import them separately, or name the format.",
        )
    return next(iter(formats.values()))


def file_format(path: Path, *, encoding: Encoding = "", sheet: Sheet | None = None) -> str:
    """Return the format of one file from its first lines, or from its table where that is already read."""
    if {".parquet", ".arrow"} & set(path.suffixes) or is_spreadsheet(path) or is_dataset(path):
        return "table"
    if sheet is not None and not JSON_SUFFIXES & {suffix.lower() for suffix in path.suffixes}:
        columns = [str(name) for name in sheet.frame.columns]
        if not columns[0].startswith("{"):
            return _table_format(columns)
    decoded = read_text(path, encoding=encoding)
    if path.suffix.lower() == ".json" and decoded.text.lstrip().startswith("{"):
        try:
            if is_suite(parse_json(decoded.text, file=decoded.file)):
                return "syntaxgym"
        except NotJSON:
            return "table"
    if decoded.text.lstrip().startswith("[") and is_json(decoded.text):
        return "table"
    first = decoded.text.lstrip()[:100_000].replace("\r", "\n").split("\n", 1)[0]
    if first.startswith("{"):
        try:
            fields = parse_json(first, file=decoded.file)
        except NotJSON:
            return "table"
        return "blimp" if GOOD in fields and BAD in fields else "table"
    return _table_format([str(name) for name in table_from(decoded).frame.columns])


def _table_format(columns: list[str]) -> str:
    if columns in (climp.LABELLED, climp.UNLABELLED):
        return "climp"
    signatures = (li_adger.PAIR_COLUMNS, li_adger.HUMAN_COLUMNS, li_adger.SENTENCE_COLUMNS)
    if any(set(signature) <= set(columns) for signature in signatures) and {"id", "gramm_id"} & set(columns):
        return "li-adger"
    return "table"
