"""Files that were made to break a reader are refused with a reason, and quickly enough to be no attack."""

import gzip
import tracemalloc
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import BadInput
from experiments.materials.readers.detect import read_materials
from judgments.imports.readers import read_judgments

PAIR = b'{"sentence_good": "Dogs run.", "sentence_bad": "Dogs runs."}\n'


def archive_of(path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
def test_a_compressed_file_that_unpacks_without_end_is_refused_before_it_fills_the_memory(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"\x00" * 60_000_000))
    with pytest.raises(BadInput, match=rf"{name}: unpacks to more than 50 MB.*Unpack it"):
        read_materials([path])
    with pytest.raises(BadInput, match="unpacks to more than 50 MB"):
        read_judgments(path, "table")


def test_a_spreadsheet_and_a_parquet_file_that_unpack_without_end_are_refused(tmp_path):
    sheet, table = tmp_path / "a.xlsx", tmp_path / "a.parquet"
    archive_of(sheet, sheet1=b"<" * 60_000_000)
    texts = pa.array(["x" * 100_000 + str(n) for n in range(600)])
    pq.write_table(pa.table({"sentence": texts}), table, use_dictionary=False, compression="zstd")
    for path in (sheet, table):
        with pytest.raises(BadInput, match=r"unpacks to 6\d MB, more than is read"):
            read_materials([path])


@pytest.mark.parametrize("kind", ["text", "list", "number"])
def test_a_parquet_file_whose_rows_share_one_value_is_refused_before_it_is_read(tmp_path, kind):
    """The file states the size of its pages, in which a shared value is there once."""
    path, n = tmp_path / "bomb.parquet", 2_000
    if kind == "number":
        columns = {f"x{k}": pa.array([7] * 4_000_000, pa.int8()) for k in range(15)}
    else:
        shared = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), ["a " * 50_000]).cast(
            pa.string()
        )
        columns = {"sentence": shared}
        if kind == "list":
            columns["sentence"] = pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), shared)
    pq.write_table(pa.table(columns), path, compression="zstd", data_page_size=1 << 30)
    assert path.stat().st_size < 250_000
    tracemalloc.start()
    allocated = pa.total_allocated_bytes()
    for read in (lambda: read_materials([path]), lambda: read_judgments(path, "table")):
        with pytest.raises(BadInput, match=r"bomb\.parquet: unpacks to \d+ MB, more than is read"):
            read()
    assert tracemalloc.get_traced_memory()[1] < 50e6 and pa.total_allocated_bytes() - allocated < 50e6
    tracemalloc.stop()


def test_a_damaged_archive_is_refused(tmp_path):
    packed = gzip.compress(b"a,b\n" * 5_000)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(packed[:15] + b"\xff\xff\xff" + packed[18:])
    with pytest.raises(BadInput, match=r"a\.csv\.gz: cannot be read"):
        read_materials([path])
    sheet = tmp_path / "a.xlsx"
    archive_of(sheet, workbook=b"<a/>")
    content = sheet.read_bytes()
    sheet.write_bytes(content.replace(b"PK\x01\x02", b"PK\x01\x03"))
    with pytest.raises(BadInput, match=r"a\.xlsx: cannot be read as a spreadsheet"):
        read_judgments(sheet, "table")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"[" * 200_000, "nested too deeply"),
        (b'{"sentence_good": ' + b"9" * 20_000 + b"}", "thousands of digits"),
        (b'{"sentence_good": 1e999, "sentence_bad": NaN}', "not a number that can be stored"),
        (b'{"sentence_good": "a"', "not JSON at character"),
    ],
)
def test_json_that_no_parser_takes_is_refused_with_its_line(tmp_path, line, problem):
    path = tmp_path / "a.jsonl"
    path.write_bytes(PAIR + line + b"\n")
    for read in (lambda: read_materials([path]), lambda: read_judgments(path, "table")):
        with pytest.raises(BadInput, match=rf"a\.jsonl, row 2: .*{problem}"):
            read()


@pytest.mark.parametrize("document", [b"[" * 200_000, b"[" + b"9" * 20_000 + b"]", b'[{"trial_type": '])
def test_a_jspsych_document_that_no_parser_takes_is_refused(tmp_path, document):
    path = tmp_path / "a.json"
    path.write_bytes(document)
    with pytest.raises(BadInput, match=r"a\.json"):
        read_judgments(path, "jspsych")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b",".join(b"c%d" % n for n in range(20_000)) + b"\n"),
        ("a.jsonl", b"{" + b",".join(b'"k%d": 1' % n for n in range(20_000)) + b"}\n"),
    ],
)
def test_a_table_of_thousands_of_columns_is_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match="20,000 columns, more than 2,000"):
        read_judgments(path, "table")


def write_arrow(path, table, *, compression=None, is_file=False):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(path, table.schema, options=options) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("kind", ["compressed", "shared", "nulls", "list"])
def test_an_arrow_file_that_unpacks_without_end_is_refused_before_it_is_unpacked(tmp_path, kind, is_file):
    text = "x" * 1_000_000
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000, pa.int32()), [text])
    values = {
        "compressed": pa.array([text] * 100),
        "shared": shared,
        "nulls": pa.nulls(1_000_000_000),
        "list": pa.ListArray.from_arrays([0, 1_000_000_000], pa.nulls(1_000_000_000)),
    }[kind]
    compression = "zstd" if kind == "compressed" else None
    path = write_arrow(
        tmp_path / "a.arrow", pa.table({"sentence": values}), compression=compression, is_file=is_file
    )
    del values
    pool = pa.proxy_memory_pool(pa.default_memory_pool())  # counts from here on
    former = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match=r"a.arrow: unpacks to more than \d+ MB.*Give it in parts"):
            read_materials([path])
    finally:
        pa.set_memory_pool(former)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6 and pool.max_memory() < 20e6


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_an_arrow_file_of_ordinary_size_is_read_packed_or_not(tmp_path, compression, is_file):
    table = pa.table({
        "sentence_good": ["Dogs run.", "Cats sleep."],
        "sentence_bad": pa.array(["Dogs runs.", "Cats sleeps."]).dictionary_encode(),
        "tags": [["a"], []],
    })  # fmt: skip
    path = write_arrow(tmp_path / "a.arrow", table, compression=compression, is_file=is_file)
    assert read_materials([path]).sentences["text"].tolist()[:2] == ["Dogs run.", "Dogs runs."]
    path.write_bytes(path.read_bytes()[:-40] if not is_file else path.read_bytes()[:60])
    with pytest.raises(BadInput, match="not an Arrow file|no rows"):
        read_materials([path])
