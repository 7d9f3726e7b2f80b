"""Hostile files at every place that takes one."""

import gzip
import io
import json
import random
import time
import zipfile
from collections import Counter

import httpx

from tests.fuzz.site import Site

GOOD = b"paradigm,sentence_good,sentence_bad\na,The cat sleeps.,The cat sleep.\na,Dogs run.,Dogs runs.\n"
BOMB_BYTES = 300_000_000


def hostile_files() -> dict[str, bytes]:
    """Files by name that have broken readers of tables elsewhere."""
    deep = b"[" * 200_000
    pair = b'{"sentence_good": "A b.", "sentence_bad": "A c."}\n'
    return {
        "empty.csv": b"",
        "only-header.csv": GOOD.partition(b"\n")[0],
        "nul.csv": GOOD.replace(b"cat", b"c\x00t"),
        "bom-twice.csv": b"\xef\xbb\xbf" * 2 + GOOD,
        "utf16-cut.csv": GOOD.decode().encode("utf-16")[:-1],
        "utf32.csv": GOOD.decode().encode("utf-32"),
        "surrogates.csv": GOOD + b"a,\xed\xa0\x80,\xed\xb0\x80\n",
        "right-to-left.csv": GOOD + "a,\u202ecba.\u202c,\u2066x\u2069\n".encode(),
        "zero-width.csv": GOOD + "a,a\u200bb.,a\u200db.\n".encode(),
        "combining.csv": GOOD + ("a," + "e" + "\u0301" * 5_000 + ",b\n").encode(),
        "open-quote.csv": GOOD + b'a,"no end,b\n' * 5_000,
        "one-line.csv": b"x" * 5_000_000,
        "columns.csv": b",".join(b"c%d" % n for n in range(20_000)) + b"\n",
        "formulas.csv": GOOD + b'a,"=HYPERLINK(""http://a"")",@b\n',
        "carriage.csv": GOOD.replace(b"\n", b"\r"),
        "deep.json": deep,
        "deep.jsonl": deep + b"\n",
        "numbers.jsonl": pair + b'{"sentence_good": 1e999, "sentence_bad": NaN}\n',
        "digits.jsonl": b'{"sentence_good": ' + b"9" * 20_000 + b"}\n",
        "keys.jsonl": json.dumps({f"k{n}": n for n in range(50_000)}).encode(),
        "list.jsonl": b"[1, 2]\nnull\ntrue\n",
        "not.xlsx": b"PK\x03\x04" + b"\x00" * 2_000,
        "not.ods": GOOD,
        "not.gz": b"\x1f\x8b" + b"\x00" * 200,
        "cut.csv.gz": gzip.compress(GOOD * 1_000)[:-20],
        "bomb.csv.gz": gzip.compress(b"\x00" * BOMB_BYTES, compresslevel=6),
        "bomb.xlsx": _archive({"xl/worksheets/sheet1.xml": b"<" * BOMB_BYTES, "[Content_Types].xml": b""}),
        "bomb.ods": _archive({"content.xml": b" " * BOMB_BYTES, "mimetype": b""}),
        "slip.xlsx": _archive({"../../../../tmp/slip": b"x", "xl/workbook.xml": b"<a/>"}),
        "entities.xlsx": _archive(
            {"xl/workbook.xml": b'<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><a>&c;</a>'}
        ),
        "..%2f..%2fname.csv": GOOD,
        "n" * 300 + ".csv": GOOD,
        "no-extension": GOOD,
    }


def _archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def fuzz_uploads(site: Site, *, cases: int, seed_number: int) -> tuple[Counter[int], list[str]]:
    """Upload the hostile files and mutations of a good one; statuses and faults."""
    rng = random.Random(seed_number)
    statuses: Counter[int] = Counter()
    faults: list[str] = []
    files = list(hostile_files().items())
    files += [
        (rng.choice(["a.csv", "a.jsonl", "a.xlsx", "a.csv.gz"]), _mutated(rng))
        for _ in range(max(0, cases - len(files)))
    ]
    browser = site.signed_in()
    for name, content in files:
        for address in ("/materials/upload/", "/judgments/import/"):
            started = time.monotonic()
            status = _upload(browser, address, name, content)
            statuses[status] += 1
            if status >= 500:
                faults.append(f"{status}: {address} {name[:60]} {content[:80]!r}")
            if time.monotonic() - started > 30:
                faults.append(f"{time.monotonic() - started:.0f} s: {address} {name[:60]}")
    return statuses, faults


def _upload(browser: httpx.Client, address: str, name: str, content: bytes) -> int:
    token = browser.cookies.get("csrftoken") or ""
    response = browser.post(
        address,
        data={"csrfmiddlewaretoken": token, "name": "fuzz", "experiment": "fuzz", "format": "table"},
        files={"files": (name, content), "file": (name, content)},
        headers={"Referer": str(browser.base_url)},
        follow_redirects=True,
    )
    return response.status_code


def _mutated(rng: random.Random) -> bytes:
    content = bytearray(rng.choice([GOOD, gzip.compress(GOOD), _archive({"xl/workbook.xml": b"<a/>"})]))
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(content))
        content[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
        content = content or bytearray(b"x")
    return bytes(content)
