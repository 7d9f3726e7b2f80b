"""``manage.py train_unigram``: count a model's own tokens in a text, for SLOR and NormLP."""

import argparse
from pathlib import Path
from typing import Any, cast

from analysis.errors import BadInput, NotEnoughData
from analysis.ngrams.text import CorpusSentences
from analysis.scoring import scorer
from analysis.scoring.words.unigrams import CountsTokens, train_unigrams, write_unigrams
from config.commands import ContractCommand


class Command(ContractCommand):
    """Count tokens; the file appears complete or not at all."""

    help = (
        "Count how often each token of a causal or masked model occurs in a text with a sentence per line, "
        "tokenized as the model URI says. SLOR divides by these probabilities: score with "
        "?unigram=FILE."
    )
    example = "manage.py train_unigram hf-causal:gpt2 corpus.txt --out gpt2.unigrams.txt"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The model, the text and the file."""
        parser.add_argument(
            "model",
            metavar="MODEL",
            help="hf-causal:…, hf-masked:… or openai:…?tokenizer=…, with its options",
        )
        parser.add_argument("corpus", metavar="CORPUS", help="UTF-8 text, a sentence per line, plain or .gz")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to, such as x.txt")

    def run(self, **options: Any) -> None:
        """Open, count, write, print."""
        out = options["out"]
        if not out.parent.is_dir():
            raise BadInput("there is no such folder.", file=str(out.parent), remedy="Make it first.")
        model = scorer(options["model"])
        if not hasattr(model, "token_ids"):
            raise BadInput(
                f"{options['model']} has no tokens to count.",
                remedy="N-gram and recurrent models have their own; use hf-causal:, hf-masked: or openai:.",
            )
        counting = cast(CountsTokens, model)
        text = CorpusSentences(options["corpus"], lambda line: [line.strip()] if line.strip() else [])
        try:
            logprob = train_unigrams(counting, (line for [line] in text))
        except NotEnoughData as error:
            raise NotEnoughData("the corpus is empty.", file=str(text.path)) from error
        write_unigrams(logprob, out, tokenizer_sha=counting.tokenizer_sha)
        document = {
            "to": str(out),
            "corpus": str(text.path),
            "types": len(logprob),
            "blank_lines": text.n_blank,
        }
        if options["json"]:
            self.print_json(document)
        else:
            self.stdout.write(f"wrote {out}: {len(logprob):,} tokens of the vocabulary")
