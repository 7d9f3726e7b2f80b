"""Every example of the pages on models in the manual runs, with tiny models under the names used there."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command

from analysis.command_line.program import main
from tools.manual.commands import BLOCK, DOCS, commands_of

PAGES = sorted(set(DOCS.glob("models/*.md")) - {DOCS / "models" / "gallery.md"})  # test_gallery.py draws it


@pytest.fixture(scope="module")
def folder(tmp_path_factory, causal):
    """The files that the pages take from their reader."""
    folder = tmp_path_factory.mktemp("manual")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["examples"]) == 0
        text = ["--casing", "lower", "--punctuation", "split", "--out", "trigram.arpa"]
        assert main(["train-ngram", "corpus.txt", "--order", "3", *text]) == 0
    shutil.copytree(causal("gpt2").folder, folder / "gpt2")
    shutil.copy(folder / "validation.csv", folder / "judgments.csv")
    sentences = pd.read_csv(folder / "sentences.csv")
    for name in ("trigram", "gpt2"):
        scores = sentences["sentence"].str.len() * -1.0 - sentences.index % 3
        pd.DataFrame({"sentence_id": sentences["sentence_id"], f"{name}:lp": scores}).to_csv(
            folder / f"{name}.csv", index=False
        )
    regions = sentences.assign(region="subject", text=sentences["sentence"].str.split().str[0])
    regions[["sentence_id", "region", "text"]].to_csv(folder / "regions.csv", index=False)
    (folder / "gold").mkdir()
    for name in ("human.csv", "judgments.csv"):
        shutil.copy(folder / name, folder / "gold")
    pd.read_csv(folder / "pairs.csv").to_json(folder / "gold" / "pairs.jsonl", orient="records", lines=True)
    (folder / "models.csv").write_text("model,name,training_tokens\ngpt2:lp,gpt2,3000\n")
    return folder


def _python_blocks(path: Path) -> Iterator[str]:
    for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
        if re.fullmatch(r"python|py", block["info"].strip()):
            yield block["text"]


def _names(folder: Path) -> dict[str, Any]:
    """What the notebooks of the pages have at hand."""
    read = {name: pd.read_csv(folder / f"{name}.csv") for name in ("human", "pairs", "sentences", "models")}
    judgments = pd.read_csv(folder / "judgments.csv")
    return read | {"judgments": judgments, "scores": pd.read_csv(folder / "scores.csv")}


def test_every_command_and_notebook_of_the_pages_on_models_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    n_commands = n_notebooks = 0
    for path in sorted(PAGES, key=lambda path: path.stem != "scoring"):  # which writes scores.csv
        for shown in commands_of(path):
            if shown.is_in_block and not shown.is_synopsis:
                name, *arguments = shown.words
                if shown.program == "manage.py":
                    call_command(name, *arguments)
                else:
                    assert main([name, *arguments]) == 0, shown.place
                n_commands += 1
        for code in _python_blocks(path):
            exec(compile(code, str(path), "exec"), _names(folder))
            n_notebooks += 1
    assert n_commands >= 7 and n_notebooks >= 5
