"""Files that have broken readers of tables, documents, archives and models elsewhere."""

import gzip
import io
import json
import random
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq

TABLE = b"paradigm,sentence_good,sentence_bad\na,The cat sleeps.,The cat sleep.\na,Dogs run.,Dogs runs.\n"
PAIR = b'{"sentence_good": "A b.", "sentence_bad": "A c."}\n'
TEMPLATE = "obelus_template: 1\nstudy:\n  title: A template\n  task: likert\n"
BOMB_BYTES = 300_000_000
ZIP_MEMBERS = 20_000


def hostile_files() -> dict[str, bytes]:
    """Files by name; every place that takes a file gets all of them."""
    return {**_tables(), **_json_files(), **_packed_files(), **_yaml_files(), **_other_files()}


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return the content with a few bytes replaced, inserted or deleted."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(changed))
        changed[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
        changed = changed or bytearray(b"x")
    return bytes(changed)


def _tables() -> dict[str, bytes]:
    rows = b"".join(b"s%d,1\n" % n for n in range(400_000))
    return {
        "empty.csv": b"",
        "only-header.csv": TABLE.partition(b"\n")[0],
        "nul.csv": TABLE.replace(b"cat", b"c\x00t"),
        "nul-in-header.csv": TABLE.replace(b"paradigm", b"para\x00digm", 1),
        "bom-twice.csv": b"\xef\xbb\xbf" * 2 + TABLE,
        "utf16-cut.csv": TABLE.decode().encode("utf-16")[:-1],
        "utf32.csv": TABLE.decode().encode("utf-32"),
        "surrogates.csv": TABLE + b"a,\xed\xa0\x80,\xed\xb0\x80\n",
        "right-to-left.csv": TABLE + "a,\u202ecba.\u202c,\u2066x\u2069\n".encode(),
        "zero-width.csv": TABLE + "a,a\u200bb.,a\u200db.\n".encode(),
        "combining.csv": TABLE + ("a," + "e" + "\u0301" * 5_000 + ",b\n").encode(),
        "open-quote.csv": TABLE + b'a,"no end,b\n' * 5_000,
        "long-cell.csv": TABLE + b"a," + b"x" * 2_000_000 + b",b\n",
        "one-line.csv": b"x" * 5_000_000,
        "many-rows.csv": b"sentence_id,model\n" + rows,
        "columns.csv": b",".join(b"c%d" % n for n in range(20_000)) + b"\n",
        "score-columns.csv": b"sentence_id,"
        + b",".join(b"c%d" % n for n in range(3_000))
        + b"\ns1"
        + b",1" * 3_000
        + b"\n",
        "same-columns.csv": b"sentence_id,model,model\ns1,1,2\n",
        "long-column.csv": b"sentence_id," + b"m" * 300_000 + b"\ns1,1\n",
        "numbers.csv": b"sentence_id,model\ns1,1e999\ns2,-inf\ns3,nan\ns4," + b"9" * 5_000 + b"\n",
        "formulas.csv": TABLE + b'a,"=HYPERLINK(""http://a"")",@b\n',
        "carriage.csv": TABLE.replace(b"\n", b"\r"),
        "tabs.tsv": TABLE.replace(b",", b"\t") + b"\t" * 50_000 + b"\n",
        "..%2f..%2fname.csv": TABLE,
        "n" * 300 + ".csv": TABLE,
        "no-extension": TABLE,
    }


def _json_files() -> dict[str, bytes]:
    deep = b"[" * 200_000
    whole = b"[" * 50_000 + b"]" * 50_000
    return {
        "deep.json": deep,
        "deep-closed.json": whole,
        "deep-objects.json": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        "deep-value.json": b'[{"sentence_good": ' + whole + b', "sentence_bad": "A c."}]',
        "deep.jsonl": deep + b"\n",
        "numbers.jsonl": PAIR + b'{"sentence_good": 1e999, "sentence_bad": NaN}\n',
        "digits.jsonl": b'{"sentence_good": ' + b"9" * 20_000 + b"}\n",
        "digits.json": b'[{"response": ' + b"9" * 20_000 + b"}]",
        "keys.jsonl": json.dumps({f"k{n}": n for n in range(50_000)}).encode(),
        "list.jsonl": b"[1, 2]\nnull\ntrue\n",
        "escaped-surrogate.jsonl": PAIR + b'{"sentence_good": "\\ud800", "sentence_bad": "\\udc00\\u0000"}\n',
        "trials.json": b'[{"trial_type": "html-slider-response", "rt": {}, "response": [[[]]]}]',
    }


def _packed_files() -> dict[str, bytes]:
    cells = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="99999999"><c r="ZZZZ1" t="s"><v>-1</v></c></row></sheetData></worksheet>'
    )
    return {
        "not.xlsx": b"PK\x03\x04" + b"\x00" * 2_000,
        "not.ods": TABLE,
        "not.zip": b"PK\x05\x06" + b"\xff" * 18,
        "not.gz": b"\x1f\x8b" + b"\x00" * 200,
        "not.parquet": b"PAR1" + b"\x00" * 200 + b"\xff\xff\xff\x7fPAR1",
        "cut.csv.gz": gzip.compress(TABLE * 1_000)[:-20],
        "cut.parquet": _parquet(n_groups=2)[:-30],
        "bomb.csv.gz": gzip.compress(b"\x00" * BOMB_BYTES, compresslevel=6),
        "bomb-of-rows.csv.gz": gzip.compress(TABLE + b"a,b.,c.\n" * (BOMB_BYTES // 8), compresslevel=6),
        "bomb.parquet": _parquet(n_groups=100),
        "bomb.xlsx": _archive({"xl/worksheets/sheet1.xml": b"<" * BOMB_BYTES, "[Content_Types].xml": b""}),
        "bomb.ods": _archive({"content.xml": b" " * BOMB_BYTES, "mimetype": b""}),
        "bomb.zip": _archive({"data/train.csv": TABLE + b"a,b.,c.\n" * (BOMB_BYTES // 8)}),
        "bomb-in-bomb.zip": _archive({"data/train.zip": _archive({"train.csv": b"a" * BOMB_BYTES})}),
        "members.zip": _archive({f"data/{n}.csv": b"" for n in range(ZIP_MEMBERS)}),
        "slip.zip": _archive({"../../../../tmp/slip.csv": TABLE, "/etc/slip.csv": TABLE}),
        "slip.xlsx": _archive({"../../../../tmp/slip": b"x", "xl/workbook.xml": b"<a/>"}),
        "cells.xlsx": _archive({"xl/worksheets/sheet1.xml": cells, "xl/workbook.xml": b"<workbook/>"}),
        "entities.xlsx": _archive(
            {"xl/workbook.xml": b'<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><a>&c;</a>'}
        ),
    }


def _yaml_files() -> dict[str, bytes]:
    """Templates of studies: aliases that multiply, nesting, scalars, tags of Python."""
    names = "abcdefghij"
    laughs = "".join(
        f"{name}: &{name} [{', '.join([f'*{earlier}'] * 10)}]\n"
        for earlier, name in zip(names, names[1:], strict=False)
    )
    texts = {
        "laughs": f"obelus_template: 1\na: &a [lol, lol, lol]\n{laughs}",
        "merge": f"{TEMPLATE}design: &d\n  a: 1\n  <<: *d\n",
        "loop": f"{TEMPLATE}design: &d [*d]\n",
        "deep": "obelus_template: 1\nstudy: " + "[" * 100_000,
        "deep-mappings": "obelus_template: 1\nstudy: " + "{a: " * 50_000,
        "indentation": "\n".join(" " * n + "a:" for n in range(1_300)),
        "sequences": "obelus_template: 1\nstudy:\n" + "- " * 200_000,
        "scalar": "obelus_template: 1\nstudy:\n  title: " + "x" * 900_000,
        "long": TEMPLATE + "# " + "x" * 5_000_000,
        "apply": f"{TEMPLATE}design: !!python/object/apply:os.system [id]\n",
        "tag": "%TAG ! tag:example.org,2000:\n---\n" + TEMPLATE + "design: !a {b: 1}\n",
        "empty-float": f"{TEMPLATE}design: {{items: !!float ''}}\n",
        "point-float": f"{TEMPLATE}design: {{items: !!float '.'}}\n",
        "infinite": f"{TEMPLATE}design: {{items: 1.0e+999, seed: .nan}}\n",
        "infinite-scale": f"{TEMPLATE}  parameters: {{points: 9.9e+999}}\n",
        "digits": f"{TEMPLATE}  parameters: {{points: {'9' * 500_000}}}\n",
        "binary": f"{TEMPLATE}  description: !!binary AAAA\n",
        "date": f"{TEMPLATE}  description: 2001-99-99\n",
        "escapes": TEMPLATE.replace("A template", '"a\\0b\\uD800c\\x07"'),
        "nul": TEMPLATE.replace("A template", '"a\\0b"'),
        "key-list": f"{TEMPLATE}? [a, b]\n: c\n",
        "key-null": f"{TEMPLATE}~: c\n? \n",
        "keys-twice": f"{TEMPLATE}study: {{}}\n",
        "documents": TEMPLATE + "---\n" * 10_000,
        "version": "obelus_template: [1]\nstudy: {}\n",
        "types": "obelus_template: 1\nstudy: {title: [1], task: {a: 1}, questionnaire: 5, language: null}\n",
        "lists": f"{TEMPLATE}materials: [1, 2]\nfillers: text\nexclusion_plan: null\n",
        "sentences": f"{TEMPLATE}materials: {{sentences: [1, null, {{}}, [[]]], name: {{}}}}\n",
        "nodes": f"{TEMPLATE}materials: [" + "1," * 300_000 + "]\n",
    }
    return {f"{name}.yaml": text.encode() for name, text in texts.items()} | {
        "not-utf-8.yaml": TEMPLATE.encode() + b"# \xff\xfe\n",
        "utf-16.yaml": TEMPLATE.encode("utf-16"),
    }


def _other_files() -> dict[str, bytes]:
    """Paradigms in TOML, and n-gram models."""
    arpa = "\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t<unk>\n-1\tthe\n\\end\\\n"
    return {
        "deep.toml": b"a = " + b"[" * 50_000,
        "tables.toml": b"[" + b"a." * 20_000 + b"a]\n",
        "digits.toml": b"format = " + b"9" * 20_000 + b"\n",
        "keys.toml": b"format = 1\nformat = 2\n",
        "types.toml": b'format = 1\nuid = [1]\nslots = "x"\ndraw = 1979-05-27\n[contrast]\na = 1\n',
        "infinite.toml": b"format = inf\nuid = nan\n",
        "frames.toml": b'format = 1\n[[frames]]\ngood = "' + b"{a}" * 10_000 + b'"\n',
        "counts.arpa": arpa.replace("=2", f"={10**12}").encode(),
        "digits.arpa": arpa.replace("=2", "=" + "9" * 5_000).encode(),
        "negative.arpa": arpa.replace("=2", "=-2").encode(),
        "infinite.arpa": arpa.replace("-1\tthe", "1e999\tthe").encode(),
        "order.arpa": arpa.replace("ngram 1", "ngram 99999").encode(),
        "nul.arpa": arpa.replace("the", "t\0e").encode(),
        "cut.arpa": arpa.encode()[:30],
        "empty.arpa": b"",
        "one-line.arpa": b"\\data\\" + b"x" * 3_000_000,
    }


def _archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _parquet(*, n_groups: int) -> bytes:
    """A table of the same row, 200,000 times in each group; some kilobytes, however long it is."""
    n_rows = 200_000
    good, bad = (pa.repeat(pa.scalar(text), n_rows) for text in ("The cat sleeps.", "The cat sleep."))
    group = pa.table({"sentence_good": good, "sentence_bad": bad})
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, group.schema, compression="zstd") as writer:
        for _ in range(n_groups):
            writer.write_table(group)
    return buffer.getvalue()
