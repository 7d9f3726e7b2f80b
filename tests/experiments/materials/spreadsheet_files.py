"""Small Excel and OpenDocument files, written part by part."""

import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

Rows = Sequence[Sequence[str | float]]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HIDDEN = ' state="hidden"'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)


def write_xlsx(path: Path, sheets: Mapping[str, Rows], *, hidden: Collection[str] = ()) -> Path:
    """Write sheets of text and numbers."""
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"{_HIDDEN if name in hidden else ""}/>'
        for n, name in enumerate(sheets, 1)
    )
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _relations({"r1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            {f"r{n}": ("worksheet", f"worksheets/s{n}.xml") for n in range(1, len(sheets) + 1)}
        ),
    }
    for n, rows in enumerate(sheets.values(), 1):
        body = "".join(
            f'<row r="{r}">{"".join(_xlsx_cell(c, r, value) for c, value in enumerate(row))}</row>'
            for r, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/s{n}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>'
        )
    return _write(path, parts)


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{name}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _xlsx_cell(column: int, row: int, value: str | float) -> str:
    place = f"{chr(65 + column)}{row}"
    if value == "":
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def write_ods(path: Path, sheets: Mapping[str, Rows]) -> Path:
    """Write sheets of text and numbers."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    tables = "".join(
        f'<table:table table:name="{escape(name)}">{"".join(map(_ods_row, rows))}</table:table>'
        for name, rows in sheets.items()
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>{tables}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    return _write(path, {"mimetype": mime, "META-INF/manifest.xml": manifest, "content.xml": content})


def _ods_row(row: Sequence[str | float]) -> str:
    cells = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
        if isinstance(value, str)
        else f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        for value in row
    )
    return f"<table:table-row>{cells}</table:table-row>"


def _write(path: Path, parts: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path
