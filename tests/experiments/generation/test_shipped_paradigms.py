"""The paradigms that come with the platform: clean, with pairs of our own, as documented."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from experiments.generation.lexicon import read_lexicon
from experiments.generation.paradigms import find_paradigm, lint, sample_pairs, shipped_paradigms
from experiments.generation.paradigms.sampling import comparable, lexicon_masks

ROOT = Path(__file__).parents[3]
BLIMP = ROOT.parent / "shared" / "data" / "blimp"
DOCUMENT = ROOT / "docs" / "how-to" / "paradigms.md"
READ = ROOT / "tests" / "reference" / "paradigms_read.csv"
SYMMETRIC = ("anaphor", "determiner_noun", "irregular_plural", "regular_plural", "distractor")


def test_every_shipped_paradigm_is_clean(subtests):
    for uid in shipped_paradigms():
        with subtests.test(uid):
            report = lint(uid, n=100)
            assert [str(finding) for finding in report.findings if finding.level == "error"] == []
            assert report.n_frames >= 2 and report.capacity >= 20_000
            for row in report.rows:
                texts = row["sentence_good"], row["sentence_bad"]
                assert all(text[0].isupper() and text[-1] in ".?" and "  " not in text for text in texts)
                assert not any(re.search(r"\b(that that|the the|a a)\b", text) for text in texts), texts
                assert len(texts[0].split()) == len(texts[1].split())


def test_no_critical_word_tells_which_member_is_good(subtests):
    for uid in [uid for uid in shipped_paradigms() if uid.startswith(SYMMETRIC)]:
        with subtests.test(uid):
            good, bad = {}, {}
            for row in sample_pairs(find_paradigm(uid), 400):
                for side, counts in (("good", good), ("bad", bad)):
                    start, end = row[f"critical_{side}"]
                    word = row[f"sentence_{side}"][start:end].casefold()
                    counts[word] = counts.get(word, 0) + 1
            totals = {word: good.get(word, 0) + bad.get(word, 0) for word in good | bad}
            shares = {word: good.get(word, 0) / total for word, total in totals.items() if total >= 60}
            assert all(0.4 < share < 0.6 for share in shares.values())


@pytest.mark.skipif(not BLIMP.is_dir(), reason="BLiMP's data are not beside the project")
def test_no_sentence_is_taken_from_blimp():
    published = {
        comparable(row[side])
        for path in BLIMP.glob("*.jsonl")
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        for side in ("sentence_good", "sentence_bad")
    }
    assert len(published) > 20_000
    names = {path.stem for path in BLIMP.glob("*.jsonl")}
    assert names <= set(shipped_paradigms())
    for uid in sorted(names):
        report = lint(uid, n=300, comparison=published)
        assert [finding.message for finding in report.findings if finding.code == "L19"] == [], uid


def test_selection_by_sets_is_that_of_the_lexicon():
    lexicon = read_lexicon("en")
    masks = lexicon_masks(lexicon)
    rng = np.random.default_rng(5)
    verbs = [row for row in lexicon.by_category["verb"] if row.features["object"]]
    adjectives = lexicon.by_category["adj"]
    nouns = lexicon.by_category["noun"]
    places = {row.id: place for place, row in enumerate(lexicon.rows)}
    for verb, noun in zip(rng.choice(len(verbs), 1500), rng.choice(len(nouns), 1500), strict=True):
        row = nouns[noun]
        expected = lexicon.fits(row, verbs[verb], "object")
        assert masks.meeting(verbs[verb], "object")[places[row.id]] == expected
        adjective = adjectives[noun % len(adjectives)]
        assert masks.selecting(row, "of")[places[adjective.id]] == lexicon.fits(row, adjective, "of")


def test_the_example_of_the_documentation_is_clean(tmp_path):
    text = re.search(r"```toml\n(format = 1.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)[1]
    path = tmp_path / "doubled_clerk.toml"
    path.write_text(text, encoding="utf-8")
    report = lint(str(path), n=300)
    assert report.findings == []


@pytest.mark.parametrize(("language", "heading"), [("en", "English"), ("zh", "Mandarin")])
def test_the_tables_of_the_documentation_have_every_paradigm(language, heading):
    page = (ROOT / "docs" / "reference" / "paradigms.md").read_text(encoding="utf-8")
    table = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| \w+ \| `(\w+)`", table, re.MULTILINE) == sorted(
        shipped_paradigms(language), key=lambda uid: (find_paradigm(uid, language=language).phenomenon, uid)
    )


def test_every_paradigm_was_read():
    with READ.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    names = {(row["language"], row["paradigm"]) for row in rows}
    assert names == {(language, uid) for language in ("en", "zh") for uid in shipped_paradigms(language)}
    assert all(0 <= int(row["odd"]) <= 20 for row in rows)
