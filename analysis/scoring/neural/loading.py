"""Models and tokenizers of the hub or of a folder, with their exact revision."""

import hashlib
import logging
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import BadInput, UnknownName
from ..model_uri import ADAPTER, ATTENTION, DEVICE, QUANTIZE
from .tokenizer_files import open_tokenizer, refuse_folder_without_tokenizer
from .vocabulary import fit_vocabulary, tokenizer_digest

LAYER_NUMBER = re.compile(r"\.\d+\.")
NO_PEFT = "Run pip install peft, or remove adapter= from the model URI."
NO_BITSANDBYTES = "Run pip install bitsandbytes accelerate, or remove quantize= from the model URI."
QUANTIZATION_LIBRARIES = {"gptq": "gptqmodel", "awq": "gptqmodel", "bitsandbytes": "bitsandbytes"}
INSTALL = "Run make install-models, or pip install torch transformers."


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to score.

    ``revision`` identifies the weights, ``vocabulary`` the tokens over which probabilities sum to one;
    ``warnings`` lists differences between model and tokenizer. ``recorded`` are options of the specification,
    present only where they differ from the default, so that keys of other models stay as they are.
    ``library_tokenizer`` is that of transformers where it is not that of ``tokenizer.json``.
    """

    model: Any
    tokenizer: Any
    revision: str
    tokenizer_sha: str
    dtype: str
    vocabulary: str
    warnings: list[str]
    recorded: dict[str, str]
    library_tokenizer: Any | None = None


def import_optional(module: str, *, remedy: str = INSTALL) -> Any:
    """Import an optional package."""
    try:
        return import_module(module)
    except ImportError as error:
        raise BadInput(f"{module.partition('.')[0]} is not installed.", remedy=remedy) from error


def resolve_device(name: str, *, remedy: str = "Use device=cpu.") -> str:
    """Return the device to use: ``cpu``, ``cuda``, ``cuda:N`` or ``mps``; ``auto`` is ``cuda`` or ``cpu``."""
    kind, _, number = name.partition(":")
    if name not in DEVICE.values and not re.fullmatch(DEVICE.pattern, name):
        raise UnknownName("device", name, [*DEVICE.values, DEVICE.placeholder])
    torch = import_optional("torch")
    has_cuda = torch.cuda.is_available()
    if (kind == "cuda" and not has_cuda) or (kind == "mps" and not torch.backends.mps.is_available()):
        raise BadInput("no accelerator is available.", remedy=remedy)
    if number and int(number) >= torch.cuda.device_count():
        raise BadInput(
            f"there is no {name}: the accelerators are numbered 0 to {torch.cuda.device_count() - 1}.",
            column="device",
            remedy=remedy,
        )
    return ("cuda" if has_cuda else "cpu") if name == "auto" else name


def load_model(target: str, auto_class: str, options: Mapping[str, str]) -> LoadedModel:
    """Load a model and its tokenizer; ``options`` are those of its model URI."""
    torch, transformers = import_optional("torch"), _transformers()
    device, dtype = resolve_device(options["device"]), options["dtype"]
    name, _, revision = target.partition("@") if not Path(target).exists() else (target, "", "")
    arguments: dict[str, Any] = {
        "trust_remote_code": options["trust"] == "yes",
        "revision": revision or None,
    }
    attention = options.get(ATTENTION.name, ATTENTION.initial)
    weights: dict[str, Any] = {} if attention == ATTENTION.initial else {ATTENTION.name: attention}
    if attention == "flex_attention" and device == "cpu":
        raise BadInput(
            "flex attention does not give the scores of other attention on a processor.",
            column=ATTENTION.name,
            remedy="Use attn_implementation=eager or sdpa, or an accelerator.",
        )
    quantize = options.get(QUANTIZE.name, QUANTIZE.initial)
    if quantize != QUANTIZE.initial:
        weights["quantization_config"] = _bitsandbytes(transformers, quantize)
    adapter = options.get(ADAPTER.name, "")
    peft = import_optional("peft", remedy=NO_PEFT) if adapter else None
    refuse_folder_without_tokenizer(name)
    try:
        config = transformers.AutoConfig.from_pretrained(name, **arguments)
        exact = _revision(name, revision, transformers)
        if exact.startswith("commit:"):
            # A branch may move between the downloads: load tokenizer and weights of one commit.
            arguments["revision"] = exact.removeprefix("commit:")
        tokenizer, library_tokenizer, notes = open_tokenizer(transformers, name, arguments)
        is_stored_quantized = bool(getattr(config, "quantization_config", None))
        if is_stored_quantized:
            _check_accelerate(config)
        if quantize != QUANTIZE.initial or is_stored_quantized:
            weights["device_map"] = {"": device}  # quantised weights are placed as they are loaded
        open_weights = partial(
            getattr(transformers, auto_class).from_pretrained,
            name,
            output_loading_info=True,
            **arguments,
            **weights,
        )
        model, info = open_weights(dtype=dtype if dtype == "auto" else getattr(torch, dtype))
        is_quantized = bool(getattr(model, "is_quantized", False))
        if not is_quantized:
            gain = _single_precision_gain(model, device)
            if gain > 1:
                notes.append(_precision_note(model, gain, requested=dtype))
            if gain > 1 and dtype == "auto":
                model, info = open_weights(dtype=torch.float32)
            model = model.to(device)
        dtype = str(model.dtype).removeprefix("torch.")
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # files of others make the libraries raise any type; reported below
        raise BadInput(
            f"the model {name!r} cannot be opened: {_reason(error)}",
            remedy="Give a folder with config, weights and tokenizer, or a name of the hub; an interrupted "
            "download continues when the command is run again. Models with code of their own need trust=yes.",
        ) from error
    if auto_class == "AutoModelForCausalLM" and getattr(config, "is_encoder_decoder", False):
        raise BadInput(
            f"the model {name!r} is an encoder-decoder ({type(config).__name__}); without its encoder it "
            "is another model.",
            remedy="Use hf-seq2seq: for encoder-decoders.",
        )
    _refuse_random_weights(name, model, info["missing_keys"])
    unused = _refuse_unused_layers(name, model, info["unexpected_keys"])
    warnings = (
        notes + unused + fit_vocabulary(model, tokenizer, vocabulary=options.get("vocabulary", "model"))
    )
    recorded = {} if attention == ATTENTION.initial else {"attention": attention}
    if is_quantized:
        recorded["quantization"] = _quantization(model, quantize)
        warnings.append(f"quantised weights ({recorded['quantization']}): scores are those of another model")
    if peft is not None:
        model, recorded["adapter"], notes = _with_adapter(
            model, adapter, base=name, peft=peft, transformers=transformers, merge=not is_quantized
        )
        warnings += notes
    if dtype != "float32":
        warnings.append(f"{dtype}: a score may change by some hundredths with the sentences beside it")
    return LoadedModel(
        model.eval(),
        tokenizer,
        exact,
        tokenizer_digest(tokenizer),
        dtype,
        options.get("vocabulary", "model"),
        warnings,
        recorded,
        library_tokenizer,
    )


def _single_precision_gain(model: Any, device: str) -> float:
    """Return how many times as fast as in its half precision a model is in float32; 1 if it is not faster."""
    if device != "cpu" or str(model.dtype) not in ("torch.bfloat16", "torch.float16"):
        return 1.0
    from .cpu.precision import single_precision_gain

    return single_precision_gain(model.dtype)


def _precision_note(model: Any, gain: float, *, requested: str) -> str:
    precision = str(model.dtype).removeprefix("torch.")
    if requested != "auto":
        return f"dtype=float32 would be {gain:.1f} times as fast as {precision} on this processor"
    return (
        f"its files have {precision}; scored in float32, which is {gain:.1f} times as fast on this processor "
        f"(dtype={precision} keeps theirs)"
    )


def _bitsandbytes(transformers: Any, quantize: str) -> Any:
    """Return the settings that quantise weights as they are loaded."""
    for module in ("bitsandbytes", "accelerate"):
        import_optional(module, remedy=NO_BITSANDBYTES)
    return transformers.BitsAndBytesConfig(load_in_8bit=quantize == "int8", load_in_4bit=quantize == "int4")


def _check_accelerate(config: Any) -> None:
    """Name all that quantised weights need where the first of it is missing; raises ``ImportError``."""
    if find_spec("accelerate") is None:
        library = QUANTIZATION_LIBRARIES.get(_method(config), "the library that made them")
        raise ImportError(
            f"quantised weights need accelerate and {library}: pip install accelerate {library}"
        )


def _quantization(model: Any, quantize: str) -> str:
    """Name the method by which a model's weights are quantised."""
    if quantize != QUANTIZE.initial:
        return f"bitsandbytes {quantize}"
    return _method(model.config) or "as in its files"


def _method(config: Any) -> str:
    settings = getattr(config, "quantization_config", None)
    method = (
        settings.get("quant_method") if isinstance(settings, dict) else getattr(settings, "quant_method", "")
    )
    return str(getattr(method, "value", method) or "")


def _with_adapter(
    model: Any, target: str, *, base: str, peft: Any, transformers: Any, merge: bool
) -> tuple[Any, str, list[str]]:
    """Return a model with a PEFT adapter, the adapter's exact revision, and warnings.

    The adapter is merged into the weights, so that every path through the model has it; quantised weights
    keep it beside them, because merging would round it.
    """
    name, _, revision = target.partition("@") if not Path(target).exists() else (target, "", "")
    try:
        exact = _revision(name, revision, transformers, file="adapter_config.json")
        pinned = exact.removeprefix("commit:") if exact.startswith("commit:") else None
        adapted = peft.PeftModel.from_pretrained(model, name, revision=pinned)
        config = adapted.peft_config["default"]
        body = adapted.merge_and_unload() if merge else adapted.get_base_model()
    except MemoryError:
        raise
    except Exception as error:  # files of others make the library raise any type; reported below
        raise BadInput(
            f"the adapter {target!r} cannot be opened on {base!r}: {_reason(error)}",
            column="adapter",
            remedy="Give a folder with adapter_config.json and its weights, or a name of the hub.",
        ) from error
    trained_on = str(getattr(config, "base_model_name_or_path", "") or "")
    differs = trained_on and Path(trained_on).name != Path(base).name
    return body, exact, [f"the adapter was trained on {trained_on}, and is used on {base}"] if differs else []


def load_tokenizer(name: str) -> tuple[Any, list[str]]:
    """Load a tokenizer without its model, and warnings."""
    transformers = _transformers()
    source, _, revision = name.partition("@") if not Path(name).exists() else (name, "", "")
    try:
        tokenizer, _, warnings = open_tokenizer(transformers, source, {"revision": revision or None})
    except Exception as error:  # files of others make the library raise any type; reported below
        message = f"the tokenizer {name!r} cannot be opened: {_reason(error)}"
        raise BadInput(message, remedy="Give a folder with a tokenizer, or a name of the hub.") from error
    return tokenizer, warnings


def _transformers() -> Any:
    """Import transformers without its progress bars and warnings."""
    transformers = import_optional("transformers")
    transformers.utils.logging.disable_progress_bar()
    # It would warn of texts that are too long, which are not scored, and of each retry of a download.
    transformers.utils.logging.set_verbosity_error()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return transformers


def _refuse_random_weights(name: str, model: Any, missing: Collection[str]) -> None:
    """Refuse a model with randomly initialized weights, which its files do not contain."""
    random = sorted(set(missing) & {key for key, _ in model.named_parameters()})
    if random:
        raise BadInput(
            f"the model {name!r} cannot be opened as {type(model).__name__}: its files lack {random[0]}"
            f"{f' and {len(random) - 1} other weights' if random[1:] else ''}.",
            remedy="Use its own kind (hf-causal:, hf-masked:, hf-classifier:); train a classifier first.",
        )


def _refuse_unused_layers(name: str, model: Any, unexpected: Collection[str]) -> list[str]:
    """Refuse weights of layers that the configuration leaves out; return a warning of other unused weights.

    Heads of other tasks, such as a pooler, are unused in many published models.
    """
    if not unexpected:
        return []
    shapes = {LAYER_NUMBER.sub(".N.", key) for key, _ in model.named_parameters()}
    prefix = f"{model.base_model_prefix}."
    shapes |= {shape.removeprefix(prefix) for shape in shapes}
    layers = sorted(key for key in unexpected if LAYER_NUMBER.sub(".N.", key) in shapes)
    if layers:
        raise BadInput(
            f"the model {name!r} has weights of layers that its configuration leaves out: {layers[0]}"
            f"{f' and {len(layers) - 1} other weights' if layers[1:] else ''}.",
            remedy="Give the configuration that the weights were saved with.",
        )
    unused = sorted(unexpected)
    more = f" and {len(unused) - 1} others" if unused[1:] else ""
    return [f"weights that {type(model).__name__} does not use: {unused[0]}{more}"]


def _revision(name: str, revision: str, transformers: Any, *, file: str = "config.json") -> str:
    """Return the commit of a model of the hub, or the digest of a folder's files."""
    folder = Path(name)
    if not folder.is_dir():
        config = transformers.utils.cached_file(name, file, revision=revision or None)
        commit = transformers.utils.hub.extract_commit_hash(config, None)  # from the path of the cached file
        if not commit:
            raise BadInput(f"the revision of {name!r} is not known.", remedy="Write name@commit.")
        return f"commit:{commit}"
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        digest.update(path.name.encode())
        with path.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return f"sha256:{digest.hexdigest()}"


def _reason(error: BaseException) -> str:
    """Return the network error behind a failure, if there is one, else the library's own message."""
    cause: BaseException | None = error
    while cause is not None:
        classes = [ancestor.__name__ for ancestor in type(cause).__mro__]
        if isinstance(cause, ConnectionError | TimeoutError) or "TransportError" in classes:
            return f"the download stopped ({_first_line(cause)})."
        cause = cause.__cause__ or cause.__context__
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0][:200]
