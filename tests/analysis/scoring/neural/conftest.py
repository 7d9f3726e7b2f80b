"""Tiny models with seeded random weights, saved as folders: eighteen causal architectures, two masked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from analysis.scoring.base import FLAGS

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers", reason="neural models are an extra: make install-models")
tokenizers = pytest.importorskip("tokenizers")

SENTENCES = [
    "The cat near the dogs sleeps.",
    "The cat near the dogs sleep.",
    "The cats near the dog sleep.",
    "The cat near the dog sleeps.",
    "Who did the cat see?",
    "Who did the cat see the dog?",
    "No dog has ever slept.",
    "A dog has ever slept.",
    "Dogs sleep.",
    "The author that the critics near the old house praise every single morning laughs.",
    "The author that the critics near the old house praise every single morning laugh.",
    "The author",
]
SIZE = 24
SMALL: dict[str, Any] = {
    "vocab_size": 300,
    "hidden_size": SIZE,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
GATED = {**SMALL, "intermediate_size": 48, "num_key_value_heads": 2, "max_position_embeddings": 64}
CAUSAL: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2", {"vocab_size": 300, "n_embd": SIZE, "n_layer": 2, "n_head": 2, "n_positions": 64}),
    "llama": ("Llama", GATED),
    "mistral": ("Mistral", {**GATED, "sliding_window": 6}),
    "qwen2": ("Qwen2", GATED),
    "qwen3": ("Qwen3", {**GATED, "head_dim": 12}),
    "gemma2": ("Gemma2", {**GATED, "head_dim": 12, "final_logit_softcapping": 2.0}),
    "gemma3": ("Gemma3Text", {**GATED, "head_dim": 12}),
    "opt": ("OPT", {**SMALL, "ffn_dim": 48, "max_position_embeddings": 64, "word_embed_proj_dim": SIZE}),
    "gpt_neox": ("GPTNeoX", {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64}),
    "gpt_neo": (
        "GPTNeo",
        {
            "vocab_size": 300,
            "hidden_size": SIZE,
            "num_layers": 2,
            "num_heads": 2,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 4,
            "max_position_embeddings": 64,
        },
    ),
    "gptj": (
        "GPTJ",
        {"vocab_size": 300, "n_embd": SIZE, "n_layer": 2, "n_head": 2, "n_positions": 64, "rotary_dim": 4},
    ),
    "phi": ("Phi", {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64}),
    "falcon": ("Falcon", {**SMALL, "new_decoder_architecture": False, "multi_query": True}),
    "olmo2": ("Olmo2", GATED),
    "xglm": (
        "XGLM",
        {
            "vocab_size": 300,
            "d_model": SIZE,
            "num_layers": 2,
            "attention_heads": 2,
            "ffn_dim": 48,
            "max_position_embeddings": 64,
        },
    ),
    "mpt": ("Mpt", {"vocab_size": 300, "d_model": SIZE, "n_layers": 2, "n_heads": 2, "max_seq_len": 64}),
    "bloom": ("Bloom", {"vocab_size": 300, "hidden_size": SIZE, "n_layer": 2, "n_head": 2}),
    "mamba": ("Mamba", {"vocab_size": 300, "hidden_size": SIZE, "num_hidden_layers": 2, "state_size": 4}),
}
MASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("Bert", {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64}),
    "roberta": (
        "Roberta",
        {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64, "pad_token_id": 0},
    ),
}


@dataclass(frozen=True)
class Tiny:
    """A saved model: its folder, the model itself, its tokenizer."""

    folder: Path
    model: Any
    tokenizer: Any

    def address(self, kind: str, **options: str) -> str:
        """How a researcher names it."""
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return f"{kind}:{self.folder}" + (f"?{query}" if query else "")


def peaked(model: Any) -> Any:
    """Weights three times as large: probabilities that differ from each other."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2 and weight.requires_grad:  # tables of sines are not in the files
                weight.mul_(3)
    return model.eval()


def byte_tokenizer(**marks: str) -> Any:
    """Byte-level BPE, trained on the sentences."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    marks = marks or {"bos_token": "<s>", "eos_token": "</s>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks)


def word_tokenizer() -> Any:
    """Uncased WordPiece with marks around a sentence."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=70, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{name}_token": token for name, token in names.items()}
    )


def saved(folder: Path, model: Any, tokenizer: Any) -> Tiny:
    """Write a model and its tokenizer as the hub would."""
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Tiny(folder, model, tokenizer)


def by_hand(tiny, sentence, *, start=(0,), end=()):
    """Σ log softmax(model(ids[:t]).logits[-1])[ids[t]], one token after the other."""
    ids = [*start, *tiny.tokenizer(sentence, add_special_tokens=False)["input_ids"], *end]
    total = 0.0
    with torch.no_grad():
        for place in range(1, len(ids)):
            logits = tiny.model(input_ids=torch.tensor([ids[:place]])).logits[0, -1].double()
            total += float(torch.log_softmax(logits, -1)[ids[place]])
    return total


def flags(scores, name):
    return (scores.flags & FLAGS[name] > 0).tolist()


@pytest.fixture(scope="session")
def causal(tmp_path_factory):
    """Make a causal architecture by name, once."""
    saved_models: dict[str, Tiny] = {}

    def make(name: str) -> Tiny:
        if name not in saved_models:
            prefix, settings = CAUSAL[name]
            config = getattr(transformers, f"{prefix}Config")(**settings, bos_token_id=0, eos_token_id=1)
            config.pad_token_id = 1  # as GPT-2 is used: padding and end are one token
            torch.manual_seed(20)
            model = peaked(transformers.AutoModelForCausalLM.from_config(config))
            saved_models[name] = saved(tmp_path_factory.mktemp(name), model, byte_tokenizer())
        return saved_models[name]

    return make


@pytest.fixture(scope="session")
def masked(tmp_path_factory):
    """Make a masked architecture by name, once."""
    saved_models: dict[str, Tiny] = {}

    def make(name: str) -> Tiny:
        if name not in saved_models:
            prefix, settings = MASKED[name]
            torch.manual_seed(20)
            config = getattr(transformers, f"{prefix}Config")(**settings)
            model = peaked(getattr(transformers, f"{prefix}ForMaskedLM")(config))
            saved_models[name] = saved(tmp_path_factory.mktemp(name), model, word_tokenizer())
        return saved_models[name]

    return make
