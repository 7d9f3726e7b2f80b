"""Scorers by address, their options, the measures, and what is said of a wrong address."""

import gzip
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.errors import BadInput, MissingColumns, NotEnoughData, UnknownName
from analysis.ngrams import train_model, write_arpa
from analysis.scoring import BUILT_IN, score_sentences, scorer
from analysis.scoring.base import FLAG_MARKED, FLAG_SAME
from analysis.scoring.measures import measure
from analysis.scoring.registry import GROUP
from analysis.scoring.words.tokens import Tokenization

TEXT = ["the cat sees the dog .", "a dog sees a cat .", "the dogs see the cat .", "the cats see a dog ."] * 3


@pytest.fixture
def arpa(tmp_path):
    path = tmp_path / "trigram.arpa"
    write_arpa(train_model([line.split() for line in TEXT], order=3), path)
    return path


def test_measures_equal_the_vector(shared_vectors):
    vector = shared_vectors["lau_measures"]
    inputs = vector["input"]
    for name, expected in vector["expected"].items():
        values = measure(name, [inputs["logp"]], n_tokens=[inputs["n"]], unigram_logprob=[inputs["logp_uni"]])
        assert values[0] == pytest.approx(expected, abs=1e-8), name


def test_undefined_measures_are_missing_not_infinite():
    assert np.isnan(measure("slor", [-1.0], n_tokens=[0], unigram_logprob=[-1.0])).all()
    assert np.isnan(measure("normlp", [-1.0], n_tokens=[1], unigram_logprob=[0.0])).all()


def test_measures_that_need_unigrams_are_refused_without_them():
    with pytest.raises(BadInput, match="words' own"):
        measure("slor", [-1.0], n_tokens=[1])
    with pytest.raises(UnknownName, match="slor"):
        measure("slorr", [-1.0], n_tokens=[1])


def test_lp_is_natural_and_slor_uses_the_files_own_unigrams(arpa):
    model = scorer(f"arpa:{arpa}?engine=own")
    scores = model.score(["the cat sees a dog ."], tokens=True)
    assert scores.n_tokens.tolist() == [6] and scores.n_unk.tolist() == [0]
    assert scores.token_logprobs[0].sum() == pytest.approx(scores.logprob[0])
    assert len(scores.token_logprobs[0]) == 7
    frame = score_sentences(
        model,
        pd.DataFrame({"sentence_id": ["s"], "sentence": ["the cat sees a dog ."]}),
        methods=["lp", "slor"],
    ).frame
    assert frame.columns.tolist() == ["sentence_id", "trigram:lp", "trigram:slor"]
    assert frame["trigram:slor"][0] == pytest.approx((scores.logprob[0] - scores.unigram_logprob[0]) / 6)


def test_punctuation_and_case_can_be_fitted_to_the_model(arpa):
    sentence = ["The cat sees the dog."]
    assert scorer(f"arpa:{arpa}").score(sentence).n_unk.tolist() == [2]
    fitted = scorer(f"arpa:{arpa}?casing=lower&punctuation=split").score(sentence)
    plain = scorer(f"arpa:{arpa}").score(["the cat sees the dog ."])
    assert fitted.n_unk.tolist() == [0]
    assert fitted.logprob == pytest.approx(plain.logprob)


def test_boundaries_are_scored_only_when_asked(arpa):
    with_ends = scorer(f"arpa:{arpa}").score(["the cat"]).logprob[0]
    open_end = scorer(f"arpa:{arpa}?eos=no").score(["the cat"]).logprob[0]
    assert with_ends < open_end
    assert scorer(f"arpa:{arpa}?bos=no&eos=no").score(["the cat"]).logprob[0] < open_end


def test_characters_can_be_the_tokens(tmp_path):
    path = tmp_path / "chars.arpa"
    write_arpa(train_model([list("他走了"), list("她走了")], order=2), path)
    scores = scorer(f"arpa:{path}?tokens=chars").score(["她走了", "他 走"])
    assert scores.n_tokens.tolist() == [3, 2] and not scores.n_unk.any()


def test_an_empty_sentence_is_flagged_and_has_no_mean(arpa):
    scored = score_sentences(
        scorer(f"arpa:{arpa}"), pd.DataFrame({"sentence_id": ["a"], "sentence": [""]}), methods=["meanlp"]
    )
    assert scored.summary["empty_sentences"] == 1
    assert scored.frame["trigram:meanlp"].isna().all()


def test_order_and_company_of_sentences_change_no_score(arpa):
    model = scorer(f"arpa:{arpa}")
    together = model.score(TEXT).logprob
    alone = [model.score([sentence]).logprob[0] for sentence in TEXT]
    assert together == pytest.approx(alone, abs=1e-12)


def test_kenlm_gives_the_same_numbers(arpa):
    pytest.importorskip("kenlm", reason="kenlm is optional and not installed here")
    sentences = [*TEXT, "the zebra sees the dog .", ""]
    own_engine, kenlm = (
        scorer(f"arpa:{arpa}?engine={engine}").score(sentences) for engine in ("own", "kenlm")
    )
    assert kenlm.logprob == pytest.approx(own_engine.logprob, abs=1e-4)
    assert kenlm.n_unk.tolist() == own_engine.n_unk.tolist()


def test_a_compressed_model_is_read(arpa, tmp_path):
    packed = tmp_path / "trigram.arpa.gz"
    packed.write_bytes(gzip.compress(arpa.read_bytes()))
    there = scorer(f"arpa:{packed}?engine=own").score(TEXT).logprob
    assert there == pytest.approx(scorer(f"arpa:{arpa}").score(TEXT).logprob, abs=1e-5)


def test_spec_names_everything_that_changes_a_number(arpa):
    first, same, other = (scorer(f"arpa:{arpa}{options}").spec for options in ("", "", "?casing=lower"))
    assert first.spec_id == same.spec_id != other.spec_id
    assert first.revision.startswith("sha256:")


def test_scores_of_a_file_are_found_by_id_or_by_sentence(tmp_path):
    by_id, by_text = tmp_path / "ids.csv", tmp_path / "texts.csv"
    by_id.write_text("sentence_id,gpt\na,-10\nb,-12.5\n")
    by_text.write_text('sentence,gpt\n"Well, yes.",-7\n')
    sentences = pd.DataFrame({"sentence_id": ["b", "x"], "sentence": ["Well, yes.", "No."]})
    scored = score_sentences(scorer(f"csv:{by_id}"), sentences, name="gpt")
    assert scored.frame["gpt:lp"].tolist()[0] == -12.5 and np.isnan(scored.frame["gpt:lp"][1])
    assert scored.summary["missing_sentence_ids"] == ["x"]
    assert score_sentences(scorer(f"csv:{by_text}"), sentences).frame["texts:lp"][0] == -7


def test_a_file_with_lengths_and_unigrams_serves_every_measure(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("sentence_id,logprob,n_tokens,unigram_logprob\na,-30,10,-45\n")
    sentences = pd.DataFrame({"sentence_id": ["a"], "sentence": ["x"]})
    scored = score_sentences(scorer(f"csv:{path}"), sentences, methods=["slor"], name="m")
    assert scored.frame["m:slor"].tolist() == [1.5]


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("arpas:model.arpa", UnknownName, "Did you mean 'arpa'"),
        ("gpt2", BadInput, "kind:target"),
        ("arpa:", BadInput, "kind:target"),
        ("arpa:nowhere.arpa", BadInput, "no such file"),
        ("csv:nowhere.csv", BadInput, "no such file"),
        ("arpa:nowhere.arpa?case=lower", UnknownName, "casing"),
        ("arpa:nowhere.arpa?casing=lwer", UnknownName, "lower"),
        ("arpa:nowhere.arpa?casing", BadInput, "name=value"),
    ],
)
def test_a_wrong_address_is_refused_with_a_hint(address, error, message):
    with pytest.raises(error, match=message):
        scorer(address)


MADE_ELSEWHERE = '''
from analysis.scoring.base import Scores, Spec
import numpy as np

class Shortest:
    """Prefers the shorter sentence."""
    capabilities = frozenset({"sum"})

    def __init__(self, address):
        self.spec = Spec(uri=address.uri, revision="1", method="length", options=address.options)

    def score(self, sentences, *, ids=None, tokens=False, progress=None):
        n = np.array([len(one) for one in sentences], dtype=np.int32)
        return Scores(-n.astype(float), n, n, n, 0 * n, np.zeros(len(n), dtype=np.uint8))
'''


def offered(folder, points):
    """A package as pip would leave it, that offers kinds of models."""
    (folder / "shortest.py").write_text(MADE_ELSEWHERE)
    info = folder / "shortest-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shortest\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[obelus.scorers]\n" + points)


def test_a_package_may_offer_a_kind_of_model(tmp_path, monkeypatch):
    offered(tmp_path, "shortest = shortest:Shortest\n")
    monkeypatch.syspath_prepend(tmp_path)
    package_scorer = scorer("shortest:any?weight=2")
    assert package_scorer.score(["abc", "a"]).logprob.tolist() == [-3.0, -1.0]
    assert package_scorer.spec.options == {"weight": "2"}
    with pytest.raises(UnknownName, match="Did you mean 'shortest'"):
        scorer("shorter:any")


FAILING = """
from shortest import Shortest
class Failing(Shortest):
    def score(self, sentences, *, progress=None, **options):
        progress(1)
        if self.spec.options["weight"] == "2":
            raise KeyError("no such word")
        if self.spec.options["weight"] == "3":
            raise ConnectionError("try again")
        return [0.0]
def refuse(uri):
    raise ZeroDivisionError
"""


def test_errors_of_a_package_name_it(tmp_path, monkeypatch):
    offered(tmp_path, "failing = weak:Failing\nrefusing = weak:refuse\n")
    (tmp_path / "weak.py").write_text(FAILING)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match="refusing of the plugin shortest 1.0 failed: ZeroDivisionError"):
        scorer("refusing:any")
    with pytest.raises(BadInput, match="failing of the plugin shortest 1.0 failed: KeyError"):
        scorer("failing:any?weight=2").score(["a"])
    with pytest.raises(BadInput, match="it returned list"):
        scorer("failing:any?weight=1").score(["a"])
    with pytest.raises(ConnectionError):  # a job tries it again
        scorer("failing:any?weight=3").score(["a"])

    def stop(n_scored):
        raise LookupError("the job is another's")

    with pytest.raises(LookupError, match="another's"):
        scorer("failing:any?weight=1").score(["a"], progress=stop)


def test_a_package_does_not_take_the_place_of_our_own_kinds(tmp_path, monkeypatch, arpa):
    offered(tmp_path, "arpa = shortest:Shortest\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert type(scorer(f"arpa:{arpa}")).__name__ == "ArpaScorer"


def test_a_broken_package_is_named(tmp_path, monkeypatch):
    offered(tmp_path, "broken = shortest.nowhere:Shortest\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match="package that offers broken: cannot be imported"):
        scorer("broken:any")


def test_our_own_kinds_are_in_the_projects_entry_points():
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    entry_points = tomllib.loads(text)["project"]["entry-points"][GROUP]
    assert entry_points == {
        kind: f"{scorer_class.__module__}:{scorer_class.__name__}".replace("analysis", "obelus", 1)
        for kind, scorer_class in BUILT_IN.items()
    }


def test_torch_is_not_imported_before_a_model_needs_it():
    code = (
        "import sys; from analysis.scoring import scorer; assert scorer\n"
        "print([name for name in ('torch', 'transformers', 'django') if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


def test_options_with_wrong_values_are_refused(arpa):
    with pytest.raises(BadInput, match="yes or no"):
        scorer(f"arpa:{arpa}?bos=perhaps")
    with pytest.raises(UnknownName, match="engine"):
        scorer(f"arpa:{arpa}?engine=srilm")


def test_several_columns_of_scores_ask_for_a_choice(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("sentence_id,small,large\na,1,2\n")
    with pytest.raises(BadInput, match="small, large"):
        scorer(f"csv:{path}")
    assert scorer(f"csv:{path}?column=large").score(["x"], ids=["a"]).logprob.tolist() == [2]
    with pytest.raises(UnknownName, match="large"):
        scorer(f"csv:{path}?column=larg")


def test_frames_without_sentences_are_refused(arpa):
    with pytest.raises(MissingColumns):
        score_sentences(scorer(f"arpa:{arpa}"), pd.DataFrame({"sentence_id": ["a"]}))
    with pytest.raises(NotEnoughData):
        score_sentences(scorer(f"arpa:{arpa}"), pd.DataFrame({"sentence_id": [], "sentence": []}))


def test_marks_inside_words_stay_with_them():
    tokens = Tokenization(punctuation="split").tokens('Don\'t ask, well-known ("poets")!')
    assert tokens == ["Don't", "ask", ",", "well-known", "(", '"', "poets", '"', ")", "!"]
    assert Tokenization(punctuation="drop").tokens("Ready , aim !") == ["Ready", "aim"]


def test_lengths_are_counted_in_tokens_words_characters_and_bytes(arpa):
    sentences = pd.DataFrame({"sentence_id": ["a"], "sentence": ["the café sees 漢"]})
    scored = score_sentences(scorer(f"arpa:{arpa}"), sentences, methods=["bytelp", "charlp"], name="m")
    counts = scored.counts.iloc[0]
    assert (counts["n_tokens"], counts["n_words"], counts["n_chars"], counts["n_bytes"]) == (4, 4, 15, 18)
    assert counts["n_unk"] == 2
    assert scored.frame["m:bytelp"][0] == pytest.approx(counts["logprob"] / 18)
    with pytest.raises(BadInput, match="number of bytes"):
        measure("bytelp", [-1.0], n_tokens=[1])


def test_sentences_of_the_same_words_to_the_model_are_flagged(arpa):
    scores = scorer(f"arpa:{arpa}").score(["the zebra sees", "the gnu sees", "the  cat", "the cat", "a dog"])
    assert (scores.flags & FLAG_SAME > 0).tolist() == [True, True, True, True, False]
    assert scores.logprob[0] == scores.logprob[1]


def test_a_mark_of_the_model_in_a_sentence_is_flagged(arpa):
    scores = scorer(f"arpa:{arpa}").score(["the cat </s>", "<s> the cat", " the cat "])
    assert (scores.flags & FLAG_MARKED > 0).tolist() == [True, True, False]


def test_every_token_has_its_characters(arpa):
    sentence = "The cat, seen İn the PARK."
    scores = scorer(f"arpa:{arpa}?casing=lower&punctuation=split").score([sentence], tokens=True)
    pieces = [sentence[start:end] for start, end in scores.spans[0]]
    assert pieces == ["The", "cat", ",", "seen", "İn", "the", "PARK", ".", ""]
    assert len(scores.token_logprobs[0]) == len(pieces)
