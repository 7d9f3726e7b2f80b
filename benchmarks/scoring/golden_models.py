"""Tiny models with weights by formula, and the scores they gave once: a guard against silent change.

``python -m benchmarks.scoring.golden_models`` writes ``tests/analysis/scoring/golden.json`` anew; do so only
for a change that is meant, and say in the changelog which numbers change. Weights come from NumPy by the
names of the parameters and vocabularies are spelt out, so that a library may draw or train otherwise without
touching them.
"""

import json
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "analysis" / "scoring" / "golden.json"
SENTENCES = [
    "The cat near the dogs sleeps.",
    "The cat near the dogs sleep.",
    "Who did the cat see?",
    "No dog's ever slept.",
    "A dog has ever slept, it's said.",
    "Dogs sleep.",
    "Él duerme naïvely 漢字 🙂.",
    "The author that the critics near the old house praise every single morning laughs.",
]
MERGES = "Ġ t,h e,Ġt he,Ġ s,l e,e p,Ġs le,Ġsle ep,d o,do g,Ġ dog,n e,a r,Ġ c,a t,Ġc at,T he,i n"
PIECES = """[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog dogs near sleep ##s slept did who see no ever has
it said author that critic house praise every single morning laugh ##ing old . , ? ' s el du ##er ##me naive
##ly"""
WORDS = ["<unk>", "<eos>", "The", "the", "cat", "dogs", "dog", "near", "sleeps.", "sleep.", "Dogs", "did"]
SIZE: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}


def fill(model: Any) -> Any:
    """Give every parameter numbers that depend on its name and shape alone."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            noise = torch.from_numpy(rng.normal(0, 0.3 if weight.ndim > 1 else 0.1, tuple(weight.shape)))
            weight.copy_(
                noise + (weight.ndim == 1 and "weight" in name)
            )  # scales of layer norms stand near 1
    return model.eval()


def byte_tokenizer() -> Any:
    """Byte-level BPE of bytes and a few merges."""
    import tokenizers as tk
    import transformers

    merges = [tuple(pair.split()) for pair in MERGES.split(",")]
    signs = sorted(tk.pre_tokenizers.ByteLevel.alphabet())
    words = ["<s>", "</s>", *signs, *("".join(pair) for pair in merges)]
    tokenizer = tk.Tokenizer(tk.models.BPE(vocab={word: n for n, word in enumerate(words)}, merges=merges))
    tokenizer.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tk.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


def piece_tokenizer() -> Any:
    """Uncased WordPiece with marks around a sentence."""
    import tokenizers as tk
    import transformers

    vocabulary = {piece: n for n, piece in enumerate(PIECES.split())}
    tokenizer = tk.Tokenizer(tk.models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tk.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = tk.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tk.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def save(folder: Path, model: Any, tokenizer: Any) -> Path:
    """Write a model as the hub would."""
    fill(model).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def neural(folder: Path) -> Iterator[tuple[str, str]]:
    """Make the neural models; give a name and an address of each."""
    import torch
    import transformers

    from analysis.scoring.neural.lstm_model import LSTMModel, Shape

    bytes_, pieces = byte_tokenizer(), piece_tokenizer()
    marks = {"vocab_size": len(bytes_), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    gpt2 = transformers.GPT2Config(n_embd=24, n_layer=2, n_head=2, n_positions=128, **marks)
    llama = transformers.LlamaConfig(
        **SIZE, **marks, intermediate_size=48, num_key_value_heads=1, max_position_embeddings=128
    )
    bert = transformers.BertConfig(**SIZE, vocab_size=len(pieces), intermediate_size=48)
    judge = transformers.BertConfig(
        **SIZE,
        vocab_size=len(pieces),
        intermediate_size=48,
        id2label={0: "unacceptable", 1: "acceptable"},
        label2id={"unacceptable": 0, "acceptable": 1},
    )
    gpt2_folder = save(folder / "gpt2", transformers.GPT2LMHeadModel(gpt2), bytes_)
    two = save(folder / "llama", transformers.LlamaForCausalLM(llama), bytes_)
    three = save(folder / "bert", transformers.BertForMaskedLM(bert), pieces)
    four = save(folder / "judge", transformers.BertForSequenceClassification(judge), pieces)
    five = folder / "lstm"
    five.mkdir()
    torch.save(fill(LSTMModel(Shape(len(WORDS), 12, 16, 2))).state_dict(), five / "model.pt")
    (five / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    yield "causal, GPT-2", f"hf-causal:{gpt2_folder}"
    yield "causal, GPT-2 with the end", f"hf-causal:{gpt2_folder}?eos=yes"
    yield "causal, Llama", f"hf-causal:{two}"
    yield "causal, Llama without a beginning", f"hf-causal:{two}?bos=none"
    yield "masked, original", f"hf-masked:{three}?method=pll"
    yield "masked, word by word", f"hf-masked:{three}?method=pll-l2r&words=punctuation"
    yield "classifier, confidence", f"hf-classifier:{four}"
    yield "classifier, margin", f"hf-classifier:{four}?output=margin"
    yield "LSTM", f"lstm:{five}"


def ngram_models(folder: Path) -> Iterator[tuple[str, str]]:
    """Train the n-gram models; give a name and an address of each."""
    from analysis.ngrams import train_model, write_arpa

    for order in (2, 3):
        text = [sentence.split() for sentence in SENTENCES[:6] for _ in range(1 + len(sentence) % 3)]
        path = folder / f"{order}.arpa"
        write_arpa(train_model(text, order=order), path)
        yield f"n-grams of order {order}", f"arpa:{path}?engine=own"


def scores(addresses: Iterator[tuple[str, str]]) -> dict[str, dict[str, list[float | int]]]:
    """Score the sentences by each model."""
    from analysis.scoring import scorer

    document = {}
    for name, address in addresses:
        scores = scorer(address).score(SENTENCES)
        document[name] = {
            "logprob": [round(float(logprob), 7) for logprob in scores.logprob],
            "n_tokens": scores.n_tokens.tolist(),
        }
    return document


def main() -> None:
    """Write the file anew."""
    with tempfile.TemporaryDirectory() as folder:
        document = scores(neural(Path(folder))) | scores(ngram_models(Path(folder)))
    lines = [f" {json.dumps(name)}: {json.dumps(rows)}" for name, rows in document.items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(document)} models written to {GOLDEN}", file=sys.stderr)


if __name__ == "__main__":
    main()
