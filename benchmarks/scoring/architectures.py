"""Tiny models of every architecture that transformers offers, and their scores by a loop over tokens."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.base import FLAGS
from tests.analysis.scoring.neural.conftest import SENTENCES, byte_tokenizer, peaked, saved, word_tokenizer

EXACT, RELATIVE = 1e-4, 1e-6  # nats of a sentence, or of a sum beyond 100
N_POSITIONS = 64
LARGEST = 6_000_000  # parameters; what stays larger with these settings is left out
TOO_LONG, FAILED = (
    FLAGS[f"{reason}, not scored"] for reason in ("too long for the model", "the model failed on it")
)
LONG_TEXT = " ".join(["No dog has ever slept near the old house."] * 20)
# Sizes under the names that configurations use; each takes those that it has.
SIZES: dict[str, Any] = {
    "vocab_size": 300,
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "dim", "emb_dim", "embedding_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "ffn_hidden_size", "d_ff", "dim_ff", "dff"), 48),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "hidden_dim"), 48),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 24),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len"), N_POSITIONS),
    **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts"), 4),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts"), 1),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "qk_head_dim"), 16),
    **dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "state_size"), 8),
    **dict.fromkeys(("mamba_d_state", "mamba_n_heads", "mamba_d_head", "mamba_num_heads"), 8),
    # Shorter than the sentences, so that a path that ignores it is wrong.
    **dict.fromkeys(("sliding_window", "local_attention", "window_size"), 6),
    "num_key_value_heads": 2,
    "num_experts_per_tok": 2,
    "mamba_head_dim": 8,
    "rotary_dim": 4,
}
HYBRID: dict[str, Any] = {"layer_types": ["linear_attention", "full_attention"]}
DELTA = {
    **HYBRID,
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 2),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim", "head_dim"), 8),
}
# Linear attention beside latent attention, a dense layer beside experts.
LINEAR = {
    **HYBRID,
    "mlp_layer_types": ["dense", "sparse"],
    **dict.fromkeys(("num_key_value_heads", "linear_num_heads"), 4),
    **dict.fromkeys(("linear_head_dim", "head_dim"), 8),
    "num_experts_per_token": 2,
    "num_expert_group": 1,
}
LATENT = {"num_key_value_heads": 4}  # multi-head latent attention has as many keys as queries
DECODER = {"is_decoder": True}
# What an architecture needs besides.
SETTINGS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("axk1", "axk2", "deepseek_v2", "deepseek_v3", "deepseek_v32", "minicpm3"), LATENT),
    **dict.fromkeys(("glm4_moe_lite", "glm_moe_dsa", "youtu"), LATENT),
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "olmo_hybrid"), DELTA),
    **dict.fromkeys(("helium", "hunyuan_v1_dense", "hunyuan_v1_moe", "ministral"), {"head_dim": 8}),
    **dict.fromkeys(("bailing_hybrid", "kimi_linear"), LINEAR),
    "bamba": {"attn_layer_indices": [1]},
    "exaone4": {"sliding_window_pattern": 2},
    "exaone_moe": {
        "sliding_window_pattern": 2,
        "layer_types": ["sliding_attention", "full_attention"],
        "first_k_dense_replace": 1,
    },
    "falcon_h1": {"mamba_d_ssm": 64, "mamba_n_groups": 1},
    # With one token for both the start token would be masked as padding.
    "t5gemma": {"decoder_start_token_id": 2},
    "fsmt": {"pad_token_id": 1, **dict.fromkeys(("decoder_start_token_id", "eos_token_id"), 2)},
    "funnel": {
        "block_sizes": [1, 1],
        "d_head": 8,
        "d_inner": 48,
        "num_decoder_layers": 1,
        "initializer_std": 0.02,
    },
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 4},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"], "mamba_n_groups": 1},
    "jamba": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
        "mamba_dt_rank": 4,
    },
    "gemma3n_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        **dict.fromkeys(("hidden_size_per_layer_input", "laurel_rank", "head_dim"), 8),
        "vocab_size_per_layer_input": 300,
        "num_kv_shared_layers": 0,
        "intermediate_size": [48, 48],
        "activation_sparsity_pattern": [0.0, 0.0],
    },
    "gemma4_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        **dict.fromkeys(("hidden_size_per_layer_input", "head_dim", "global_head_dim"), 8),
        "vocab_size_per_layer_input": 300,
        "per_layer_config": {},
    },
    "esmc": {"num_key_value_heads": 4, "head_dim": 8},
    "lfm3": {"layer_types": ["conv", "full_attention"], "head_dim": 8},
    "longcat_flash": {
        **LATENT,
        "expert_ffn_hidden_size": 24,
        "zero_expert_num": 2,
        "moe_topk": 2,
        "head_dim": 8,
    },
    "qwen4_exp_text": {
        **DELTA,
        **dict.fromkeys(("hc_lowrank", "ple_embed_dim"), 16),
        "heads_per_ngram": 2,
        "ngram_vocab_size_base": 50,
        "split_ngram_parts": 1,
    },
    "reformer": {
        **DECODER,
        "axial_pos_shape": [8, 8],
        "axial_pos_embds_dim": [16, 16],
        "attn_layers": ["local", "local"],
        "attention_head_size": 8,
        "feed_forward_size": 48,
        **dict.fromkeys(("local_attn_chunk_length", "lsh_attn_chunk_length"), 8),
    },
    # Dimensions of heads are rounded up to 64.
    "xlstm": {**dict.fromkeys(("hidden_size", "embedding_dim"), 256), "num_blocks": 2, "chunk_size": 8},
    "zamba": {
        "num_hidden_layers": 4,
        "layers_block_type": ["linear_attention", "hybrid"] * 2,
        "attention_hidden_size": 64,
        "attention_head_dim": 16,
        "mamba_dt_rank": 4,
        "num_key_value_heads": 4,
    },
    "zaya": {"num_experts_per_tok": 1, "head_dim": 8, "layer_types": ["hybrid", "hybrid"]},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "luke": {"entity_vocab_size": 20, "entity_emb_size": 32},
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8},
    "perceiver": {
        "d_latents": 16,
        "num_latents": 8,
        "num_blocks": 1,
        "num_self_attends_per_block": 1,
        "num_self_attention_heads": 2,
        "num_cross_attention_heads": 2,
        "qk_channels": 16,
        "v_channels": 16,
    },
    "recurrent_gemma": {
        "block_types": ["recurrent", "attention"],
        "lru_width": 32,
        "attention_window_size": 6,
    },
    "roc_bert": {
        "pronunciation_vocab_size": 20,
        "shape_vocab_size": 20,
        "shape_embed_dim": 8,
        "pronunciation_embed_dim": 8,
    },
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "zamba2": {"layers_block_type": ["mamba", "hybrid"], "hybrid_layer_ids": [1]},
}
# As decoders these encoders see earlier tokens only.
AS_DECODER = ("bert", "roberta", "electra", "rembert", "megatron-bert", "big_bird", "xlm-roberta")
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"{name} as decoder": (name, DECODER) for name in AS_DECODER},
    "falcon with alibi": ("falcon", {"alibi": True}),
    "falcon with new decoder": ("falcon", {"new_decoder_architecture": True}),
    "gemma2 with capped logits": ("gemma2", {"final_logit_softcapping": 2.0}),
    "gpt2 with scaled layers": ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    "llama with long positions": ("llama", {"max_position_embeddings": 8_192}),
    # Wider than the sentences, as published models have it.
    **{
        f"{name} with a wide window": (name, {"sliding_window": 4_096})
        for name in ("mistral", "mixtral", "gemma2", "gemma3_text", "phi3", "gpt_oss", "olmo3", "starcoder2")
    },
}
SEQUENCE_TO_SEQUENCE = ("t5", "mt5", "umt5", "longt5", "bart", "mbart", "pegasus", "marian", "m2m_100")
# Models of pictures and text that transformers opens by no class of text models, block diffusion among them.
PICTURES = [
    name
    for name in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    if name not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
]
REQUESTED = {
    "causal": [
        *MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        *VARIANTS,
        *(f"{name} as encoder-decoder" for name in SEQUENCE_TO_SEQUENCE),
        *(f"{name} by its settings" for name in PICTURES),
    ],
    "masked": [*MODEL_FOR_MASKED_LM_MAPPING_NAMES, "gpt2 as masked"],
    "seq2seq": [*MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES],
}


@dataclass(frozen=True)
class Outcome:
    """What the product made of an architecture: exact, refused, wrong, failed; or it could not be built."""

    kind: str
    detail: str
    path: str = ""
    worst: float = 0.0
    n_scored: int = 0


def config_of(name: str) -> Any:
    """Return a configuration with two small layers."""
    base, settings = VARIANTS.get(name, (name.partition(" as ")[0], {}))
    config_class = transformers.CONFIG_MAPPING[base]
    special = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 0}
    if base in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        special["decoder_start_token_id"] = 0
    return config_class(
        **{**_sizes(config_class().to_dict()), **special, **SETTINGS.get(base, {}), **settings}
    )


def _sizes(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the small sizes of a configuration, and of those in it that read text, pictures or sound."""
    sizes = {name: value for name, value in SIZES.items() if name in values}
    for name, value in values.items():
        is_part = name.endswith("_config") or name in ("encoder", "decoder")
        if is_part and isinstance(value, Mapping) and "model_type" in value:
            kind = value["model_type"]
            padding = {"pad_token_id": 0} if "pad_token_id" in value else {}
            sizes[name] = {"model_type": kind, **_sizes(value), **padding, **SETTINGS.get(kind, {})}
    return sizes


def tiny_model(kind: str, name: str) -> Any:
    """Return a seeded random model, or None where it is not tiny with these settings."""
    auto = {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }[kind]
    if name.endswith(" as encoder-decoder"):
        auto = transformers.AutoModelForSeq2SeqLM
    elif name.endswith(" as masked"):
        auto = transformers.AutoModelForCausalLM
    config = config_of(name)
    with torch.device("meta"):
        if sum(weight.numel() for weight in auto.from_config(config).parameters()) > LARGEST:
            return None
    torch.manual_seed(20)
    return peaked(auto.from_config(config))


def outcome(kind: str, name: str, folder: Path, *, dtype: str = "float32") -> Outcome:
    """Score the texts by the product and by a loop over tokens in double precision, and compare."""
    if name.endswith(" by its settings"):
        return refusal(name, folder)
    try:
        model = tiny_model(kind, name)
        if model is None:
            return Outcome("not built", f"more than {LARGEST:,} parameters")
        with torch.inference_mode():
            ids = torch.arange(2, 12)[None]
            model(input_ids=ids, **({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}))
        tiny = saved(folder, model, word_tokenizer() if kind == "masked" else byte_tokenizer())
    except Exception as error:  # a configuration of another kind; it is counted
        return Outcome("not built", f"{type(error).__name__}: {first_line(error)}")
    try:
        scored = scorer(tiny.address(f"hf-{kind}", dtype=dtype))
        texts = [*SENTENCES, *limit_texts(tiny.tokenizer, scored.max_tokens)]
        scores = scored.score(texts)
    except BadInput as error:
        return Outcome("refused", str(error).replace(repr(str(folder)), name))
    except Exception as error:  # the finding
        return Outcome("traceback", f"{type(error).__name__}: {first_line(error)}")
    loop = {"causal": causal_loop, "masked": masked_loop, "seq2seq": seq2seq_loop}[kind]
    exact, precision = in_double_precision(tiny.model)
    worst, is_exact, n_scored, n_failed = 0.0, True, 0, 0
    for text, logprob, flags in zip(texts, scores.logprob, scores.flags, strict=True):
        if np.isnan(logprob):
            if not flags & (TOO_LONG | FAILED):
                return Outcome("wrong", f"no score and no reason for {len(text)} characters", scored.why)
            n_failed += bool(flags & FAILED)
            continue
        n_scored += 1
        expected = loop(exact, tiny.tokenizer, text)
        difference = abs(logprob - expected)
        worst, is_exact = max(worst, difference), is_exact and difference <= max(EXACT, RELATIVE * -expected)
    if n_scored < len(SENTENCES):
        return Outcome("wrong", f"only {n_scored} sentences were scored", scored.why)
    kind_of_end = "exact" if is_exact or dtype != "float32" else "wrong"
    failed = f", {n_failed} texts failed" if n_failed else ""
    return Outcome(kind_of_end, f"{worst:.1e}{failed}{precision}", scored.why, worst, n_scored)


def refusal(name: str, folder: Path) -> Outcome:
    """Open a folder that has only the configuration of a model, as far as its class decides."""
    try:
        config = transformers.CONFIG_MAPPING[name.partition(" by ")[0]]()
        config.save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
    except Exception as error:  # a configuration that needs others; it is counted
        return Outcome("not built", f"{type(error).__name__}: {first_line(error)}")
    try:
        scorer(f"hf-causal:{folder}")
    except BadInput as error:
        reason = str(error).replace(repr(str(folder)), name)
        return Outcome(
            "refused" if "Unrecognized configuration class" in reason else "not built", reason[:150]
        )
    except Exception as error:  # the finding
        return Outcome("traceback", f"{type(error).__name__}: {first_line(error)}")
    return Outcome("wrong", "opened without weights")


def in_double_precision(model: Any) -> tuple[Any, str]:
    """Return a copy in double precision with eager attention; in single where a module refuses double."""
    exact = copy.deepcopy(model).double()
    with torch.inference_mode():
        try:
            exact.set_attn_implementation("eager")
        except Exception:  # a model without the choice has one attention
            exact = copy.deepcopy(model).double()
        ids = torch.arange(2, 8)[None]
        try:
            is_pair = model.config.is_encoder_decoder
            decoder = {"decoder_input_ids": ids, "use_cache": False} if is_pair else {}
            exact(input_ids=ids, **decoder)
        except Exception:  # a module that converts to single precision within
            return model, ", beside a loop in single precision"
    return exact, ""


def seq2seq_loop(model: Any, tokenizer: Any, text: str) -> float:
    """Return Σ log softmax(model(start, ids[:t]).logits[-1])[ids[t]] after an empty source."""
    start = model.generation_config.decoder_start_token_id
    ids = [model.config.decoder_start_token_id if start is None else start]
    source = torch.tensor([tokenizer("")["input_ids"] or ids[:1]], dtype=torch.long)
    total = 0.0
    with torch.inference_mode():
        for token in tokenizer(text, add_special_tokens=False)["input_ids"]:
            logits = model(input_ids=source, decoder_input_ids=torch.tensor([ids]), use_cache=False).logits[
                0, -1
            ]
            total += float(torch.log_softmax(logits.double(), -1)[token])
            ids.append(token)
    return total


def limit_texts(tokenizer: Any, n_tokens: int) -> list[str]:
    """Return texts of exactly the tokens that a model takes, marks included, and of one more."""
    if n_tokens > 2 * N_POSITIONS:
        return []  # no limit but that of the product
    n_marks = 2 if tokenizer.mask_token_id is not None else 1
    encoded = tokenizer(LONG_TEXT, add_special_tokens=False, return_offsets_mapping=True)
    ends = [end for _, end in encoded["offset_mapping"]]
    return [LONG_TEXT[: ends[n_tokens - n_marks - 1]], LONG_TEXT[: ends[n_tokens - n_marks]]]


def causal_loop(model: Any, tokenizer: Any, text: str) -> float:
    """Return Σ log softmax(model(ids[:t]).logits[-1])[ids[t]], one token after the other."""
    ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
    total = 0.0
    with torch.inference_mode():
        for place in range(1, len(ids)):
            logits = model(input_ids=torch.tensor([ids[:place]]), use_cache=False).logits[0, -1].double()
            total += float(torch.log_softmax(logits, -1)[ids[place]])
    return total


def masked_loop(model: Any, tokenizer: Any, text: str) -> float:
    """Return Σ log softmax(model(copy).logits[t])[ids[t]], t and the later pieces of its word masked."""
    encoded = tokenizer(text, return_offsets_mapping=True)
    # A word has as many spaces before it as words; marks have no characters.
    ids, words = (
        encoded["input_ids"],
        [text[:end].strip().count(" ") if end > start else None for start, end in encoded["offset_mapping"]],
    )
    total = 0.0
    with torch.inference_mode():
        for place, word in enumerate(words):
            if word is None:
                continue
            copy = [
                tokenizer.mask_token_id if words[k] == word and k >= place else token
                for k, token in enumerate(ids)
            ]
            logits = model(input_ids=torch.tensor([copy])).logits[0, place].double()
            total += float(torch.log_softmax(logits, -1)[ids[place]])
    return total


def first_line(error: BaseException) -> str:
    """Return the first line of a message."""
    return str(error).strip().partition("\n")[0][:150]


def table(outcomes: Sequence[tuple[str, Outcome]], kind: str) -> list[str]:
    """Return the rows of the manual: the names by path, or by the reason of a refusal."""
    groups: dict[str, list[str]] = {}
    for name, ended in outcomes:
        if ended.kind == "exact":
            groups.setdefault(f"{kind}, {ended.path.partition(':')[0]}", []).append(name)
        elif ended.kind == "refused":
            groups.setdefault(f"refused: {_reason(ended.detail)}", []).append(name)
        else:
            groups.setdefault(ended.kind, []).append(name)
    return [f"| {group} | {', '.join(sorted(names))} |" for group, names in sorted(groups.items())]


def _reason(detail: str) -> str:
    reasons = {
        "sees later tokens": "they see later tokens",
        "encoder-decoder": "encoder-decoders",
        "Unrecognized configuration class": "no class of text models opens them",
        "no encoder that reads text": "no encoder that reads text",
        "when more tokens follow": "the decoder depends on later tokens",
    }
    return next((reason for part, reason in reasons.items() if part in detail), detail[:80])


def families(outcomes: Sequence[tuple[str, Outcome]], kind: str) -> list[str]:
    """Return the names with an outcome of a kind, sorted."""
    return sorted(name for name, ended in outcomes if ended.kind == kind)
