"""A classifier learns an easy difference, every restart is reported, files are read rightly."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.breakdowns.classifiers import restart_summary
from analysis.comparison.criteria import matthews_correlation
from analysis.errors import BadInput, MissingColumns, NotEnoughData
from analysis.scoring import scorer
from analysis.training import Labelled, make_plan, read_cola, read_corpus
from analysis.training.fine_tuning import train_classifier
from analysis.training.plan import Tuning
from tests.analysis.training.conftest import easy

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
pytest.importorskip("transformers", reason="neural models are an extra: make install-models")

COLA = Path(__file__).resolve().parents[4] / "shared" / "data" / "cola" / "cola_in_domain_train.csv"
FAST = Tuning(restarts=2, epochs=8, patience=4, batch=16, lr=1e-3)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A tiny classifier, once."""
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("probe") / "model"
    return train_classifier(easy(250, 1), easy(40, 2), "tiny", out, tuning=FAST, test=easy(40, 5))


def test_an_easy_difference_is_learned_and_scored(trained):
    assert trained["test"]["mcc"] > 0.5
    unseen = easy(40, 9)
    logprobs = scorer(trained["model"]).score(unseen.sentences).logprob
    right = (logprobs > 0).astype(int) == np.array(unseen.labels)
    assert right.mean() > 0.75 and (np.abs(logprobs) >= 0.5).all()


def test_every_restart_is_reported_and_the_best_is_kept(trained):
    assert [restart["seed"] for restart in trained["restarts"]] == [1, 2]
    best = max(restart["mcc"] for restart in trained["restarts"])
    assert trained["development_mcc"] == best
    chosen = next(restart for restart in trained["restarts"] if restart["seed"] == trained["chosen_seed"])
    assert chosen["mcc"] == best and {"status", "accuracy", "epoch", "n"} <= set(chosen)
    development = easy(40, 2)
    answers = scorer(trained["model"]).score(development.sentences).logprob > 0
    assert np.mean(answers == np.array(development.labels)) == pytest.approx(chosen["accuracy"], abs=0.013)


def test_every_restart_decides_the_test_set(trained):
    decisions = pd.read_csv(Path(trained["model"].partition(":")[2]) / "test_decisions.csv")
    assert list(decisions.columns) == ["1", "2"]
    test, over = easy(40, 5), trained["test_restarts"]
    assert over == restart_summary(pd.Series(test.labels), decisions)
    chosen = matthews_correlation(test.labels, decisions[str(trained["chosen_seed"])])
    assert chosen.mcc == trained["test"]["mcc"] and over["restarts"] == 2


def test_a_seed_decides_everything(tmp_path):
    tuning = Tuning(restarts=1, epochs=1, lr=1e-3)
    reports = [train_classifier(easy(30, 1), easy(10, 2), "tiny", tmp_path / n, tuning=tuning) for n in "ab"]
    scores = [
        scorer(report["model"] + "?output=margin").score(easy(10, 4).sentences).logprob for report in reports
    ]
    assert scores[0].tolist() == scores[1].tolist()


def test_a_language_model_trained_here_can_be_fine_tuned(tmp_path, corpus_file):
    from analysis.training.language import train_language_model

    plan = make_plan("transformer", "tiny", epochs=1, width=32, vocabulary=400)
    train_language_model(read_corpus(corpus_file), plan, tmp_path / "lm")
    tuning = Tuning(restarts=1, epochs=1, lr=1e-3)
    report = train_classifier(
        easy(30, 1), easy(10, 2), str(tmp_path / "lm"), tmp_path / "probe", tuning=tuning
    )
    together = scorer(report["model"] + "?output=margin").score(easy(10, 4).sentences).logprob
    alone = [
        scorer(report["model"] + "?output=margin").score([sentence]).logprob[0]
        for sentence in easy(10, 4).sentences
    ]
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_bad_input_is_named_and_leaves_nothing(tmp_path):
    with pytest.raises(BadInput, match="only one label"):
        train_classifier(Labelled(["a"], [1]), easy(5, 1), "tiny", tmp_path / "x", tuning=FAST)
    with pytest.raises(BadInput, match="cannot be opened"):
        train_classifier(easy(5, 1), easy(5, 2), str(tmp_path), tmp_path / "x", tuning=FAST)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("")
    with pytest.raises(BadInput, match="not empty"):
        train_classifier(easy(5, 1), easy(5, 2), "tiny", tmp_path / "taken", tuning=FAST)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken"]
    with pytest.raises(BadInput, match="restarts is 0"):
        Tuning(restarts=0)


def test_colas_own_form_is_read_with_its_quotation_marks(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text('gj04\t1\t\tShe said "go.\nbc01\t0\t*\tThem went.\n', encoding="utf-8")
    assert read_cola(path) == Labelled(['She said "go.', "Them went."], [1, 0])


def test_a_table_with_a_head_is_read_by_its_names(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text(',sentence_source,label,label_notes,sentence\n0,x,1,,"A, b."\n1,x,0,*,C.\n')
    assert read_cola(path) == Labelled(["A, b.", "C."], [1, 0])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "x\t1\t\tA.\nx\t2\t\tB.\n", r"a\.tsv, row 2, column 'label': the label is '2'"),
        ("a.tsv", "x\t1\t\tA.\nx\t1\tB.\n", "row 2: the row has 3 cells"),
        ("a.tsv", "x\t1\t\tA.\nx\t0\t*\t \n", "row 2, column 'sentence'"),
        ("a.tsv", "", "empty"),
        ("a.csv", "label,sentence\n1,A.\nyes,B.\n", "row 3, column 'label': the label is 'yes'"),
        ("a.csv", "label,sentence\n,A.\n", "row 2, column 'label'"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=message):
        read_cola(tmp_path / name)


def test_missing_columns_and_files_are_named(tmp_path):
    (tmp_path / "a.csv").write_text("label,text\n1,A.\n")
    with pytest.raises(MissingColumns, match="sentence"):
        read_cola(tmp_path / "a.csv")
    with pytest.raises(BadInput, match="no such file"):
        read_cola(tmp_path / "none.tsv")


def test_a_development_part_has_both_labels_and_shares_no_sentence():
    labelled = easy(50, 1)
    train, development = labelled.split(share=0.2, seed=4)
    assert not set(train.sentences) & set(development.sentences)
    assert 0.3 < np.mean(development.labels) < 0.7
    assert len(train.labels) + len(development.labels) == 100
    with pytest.raises(NotEnoughData, match="label 0"):
        Labelled(list("abcdef"), [1] * 6).split()


@pytest.mark.skipif(not COLA.is_file(), reason="CoLA's file is not given")
def test_the_given_cola_file_is_read():
    cola = read_cola(COLA)
    assert len(cola.labels) == 8551 and sum(cola.labels) == 6023


def test_the_report_is_stored_beside_the_model(trained):
    folder = Path(trained["model"].removeprefix("hf-classifier:"))
    written = json.loads((folder / "training.json").read_text())
    assert written == {name: value for name, value in trained.items() if name != "model"}
