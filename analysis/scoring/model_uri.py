"""Model URIs, ``kind:target?option=value``, and the options that scorers declare for them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from ..errors import BadInput, UnknownName
from .words.tokens import CASINGS, PUNCTUATION, UNITS

NO_YES = ("no", "yes")


class ModelURI(NamedTuple):
    """The parts of a model URI."""

    kind: str
    target: str
    options: dict[str, str]

    @property
    def uri(self) -> str:
        """The model URI without its options."""
        return f"{self.kind}:{self.target}"

    def __str__(self) -> str:
        """Format the whole model URI, options included."""
        return f"{self.uri}?{urlencode(self.options)}" if self.options else self.uri


def parse_model_uri(text: str) -> ModelURI:
    """Parse a model URI.

    Examples
    --------
    >>> parse_model_uri("arpa:model.arpa.gz?casing=lower")
    ModelURI(kind='arpa', target='model.arpa.gz', options={'casing': 'lower'})
    """
    kind, colon, path = text.partition(":")
    target, _, query = path.partition("?")
    if not colon or not kind or not target:
        raise BadInput(f"{text!r} is not a model URI.", remedy="Write kind:target, such as arpa:model.arpa.")
    try:
        options = dict(parse_qsl(query, strict_parsing=True, keep_blank_values=True)) if query else {}
    except ValueError as error:
        raise BadInput(
            f"the options {query!r} cannot be read.", remedy="Write name=value&name=value."
        ) from error
    return ModelURI(kind, target, options)


def with_revisions(text: str, revisions: Sequence[str] = (), *, on_disk: bool = True) -> list[str]:
    """Return one model URI for each revision, of ``name@one,two`` or of ``revisions``.

    A revision of a folder is a folder in it, such as a checkpoint that a trainer saved. Without ``on_disk``
    every name is one of the hub: a name from a request must not be looked up on the server.

    Examples
    --------
    >>> with_revisions("hf-causal:EleutherAI/pythia-14m@step1000,step2000?bos=eos")
    ['hf-causal:EleutherAI/pythia-14m@step1000?bos=eos', 'hf-causal:EleutherAI/pythia-14m@step2000?bos=eos']
    >>> with_revisions("hf-causal:gpt2"), with_revisions("hf-causal:gpt2", ["main", "v2"])
    (['hf-causal:gpt2'], ['hf-causal:gpt2@main', 'hf-causal:gpt2@v2'])
    """
    uri = parse_model_uri(text)
    is_path = on_disk and Path(uri.target).exists()
    name, _, in_target = (uri.target, "", "") if is_path else uri.target.partition("@")
    names = list(revisions) or (in_target.split(",") if "," in in_target else [])
    if not names:
        return [text]
    if revisions and in_target:
        raise BadInput(f"{uri.target} names a revision already.", remedy=f"Write {name} with --revisions.")
    if not uri.kind.startswith("hf-"):
        raise BadInput(
            f"{uri.kind}: models have no revisions.", remedy="Name one file or folder for each model."
        )
    if not all(names) or len(set(names)) < len(names):
        raise BadInput(f"{','.join(names)!r} are no different revisions.", remedy="Write step1000,step2000.")
    is_folder = on_disk and Path(name).is_dir()
    for revision in names if is_folder else ():
        if not (Path(name) / revision).is_dir():
            raise BadInput(f"there is no checkpoint {revision!r} in it.", file=name)
    sign = "/" if is_folder else "@"
    return [str(uri._replace(target=f"{name}{sign}{revision}")) for revision in names]


@dataclass(frozen=True)
class Option:
    """An option of a model URI, as the parser, the form and the documentation use it.

    ``values`` are the permitted values, any text where there are none; ``limits`` bound a whole number.
    ``pattern`` matches further values, which ``placeholder`` represents in the documentation, as it does
    free text. ``default`` is the first value unless it is given. ``label`` and ``help`` are shown in the
    form.
    """

    name: str
    label: str = ""
    help: str = ""
    values: tuple[str, ...] = ()
    default: str | None = None
    placeholder: str = ""
    limits: tuple[int, int] | None = None
    pattern: str = ""

    @property
    def initial(self) -> str:
        """The value that applies when the model URI does not set the option."""
        if self.default is not None:
            return self.default
        return self.values[0] if self.values else ""

    @property
    def usage(self) -> str:
        """The option with its values, the default first.

        Examples
        --------
        >>> EOS.usage
        'eos=no|yes'
        """
        values = sorted(self.values, key=lambda value: value != self.initial)
        further = [self.placeholder] if self.pattern else []
        return f"{self.name}={'|'.join([*values, *further]) or self.placeholder or self.initial}"

    def parse(self, text: str, uri: ModelURI) -> str:
        """Validate a value; yes-or-no values are normalized."""
        if self.values == NO_YES:
            word = text.lower()
            if word not in ("yes", "no", "true", "false", "1", "0"):
                raise BadInput(f"option {self.name} of {uri.uri} must be yes or no, got {word!r}.")
            return "yes" if word in ("yes", "true", "1") else "no"
        if self.pattern and re.fullmatch(self.pattern, text):
            return text
        if self.values and text not in self.values:
            raise UnknownName(self.name, text, self.values)
        if self.limits is not None:
            low, high = self.limits
            if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
                raise BadInput(f"option {self.name} must be a number from {low} to {high}, got {text!r}.")
        return text


def parse_options(uri: ModelURI, options: Sequence[Option]) -> dict[str, str]:
    """Return the value of every declared option, defaults included, after validating the URI's own.

    Examples
    --------
    >>> parse_options(ModelURI("lstm", "model", {"eos": "1"}), [EOS, CASING])
    {'eos': 'yes', 'casing': 'as-is'}
    """
    names = [option.name for option in options]
    for name in uri.options:
        if name not in names:
            raise UnknownName(f"option of {uri.kind}", name, names)
    return {
        option.name: option.parse(uri.options[option.name], uri)
        if option.name in uri.options
        else option.initial
        for option in options
    }


def given_options(uri: ModelURI, options: Mapping[str, str]) -> dict[str, str]:
    """Return the parsed options that the model URI itself sets."""
    return {name: value for name, value in options.items() if name in uri.options}


# Options that several kinds of scorer share.
TOKENS = Option(
    "tokens",
    "Tokens",
    "N-gram and recurrent models: split at spaces, into characters, or into Chinese words (jieba).",
    UNITS,
)
CASING = Option("casing", "Capital letters", "“lower” converts all letters to lower case first.", CASINGS)
PUNCTUATION_MARKS = Option(
    "punctuation",
    "Punctuation",
    "N-gram and recurrent models: whether “park.” is one token, two, or “park”.",
    PUNCTUATION,
)
EOS = Option(
    "eos",
    "End of a sentence",
    "Whether its probability counts. Causal, recurrent and n-gram models.",
    NO_YES,
)
SPACE = Option(
    "space", "Space before a sentence", "Causal and masked models: as lm-evaluation-harness does.", NO_YES
)
UNIGRAM = Option(
    "unigram",
    "Unigram probabilities, for slor and normlp",
    "A file that manage.py train_unigram made with the same model, named *.unigrams.txt, in the folder of "
    "models. N-gram models and models trained here include their own.",
    placeholder="FILE",
)
PROMPT = Option(
    "prompt",
    "Template around a sentence",
    "What stands before a sentence and is not scored; “{context} {sentence}” is the default for sentences "
    "with a context. \\n is a new line. Not for classifiers.",
    placeholder="TEMPLATE",
)
CONTEXT = Option(
    "context",
    "Contexts of sentences",
    "“use” scores a sentence after the context that its materials give; “ignore” scores it alone.",
    ("use", "ignore"),
)
QUESTION = Option(
    "question",
    "Question of a prompt",
    "For yes_no, rating and forced_choice: a text with {sentence}, or {first} and {second}, and {answers}. "
    "\\n is a new line.",
    placeholder="TEXT",
)
ANSWERS = Option(
    "answers",
    "Answers of a prompt",
    "With commas: Yes,No; 1,2,3,4,5 from worst to best; A,B for the first and the second sentence.",
    placeholder="A,B",
)
SAMPLES = Option(
    "samples",
    "Samples",
    "Of each sentence, where a score is an expected value: marginal probabilities and masked diffusion. The "
    "standard error falls with its square root.",
    default="64",
    limits=(8, 100_000),
)
SEED = Option("seed", "Seed of the samples", "A whole number.", default="0", limits=(0, 2**31 - 1))
VOCABULARY = Option(
    "vocabulary",
    "Output rows without a token",
    "Causal and masked models: “model” includes them in every probability, as other tools do; "
    "“tokenizer” removes them.",
    ("model", "tokenizer"),
)
DTYPE = Option(
    "dtype",
    "Precision",
    "Half precision is less exact, faster on most devices, and counts as another model; “auto” is that of "
    "the files, or float32 on a processor that is faster in it.",
    ("float32", "bfloat16", "float16", "auto"),
)
DEVICE = Option(
    "device", values=("auto", "cpu", "cuda", "mps"), placeholder="cuda:N", pattern=r"cuda:\d{1,3}"
)
ATTENTION = Option(
    "attn_implementation",
    "Attention",
    "How transformers computes attention; “auto” leaves it to the library, another one counts as another "
    "model.",
    ("auto", "eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention"),
)
ADAPTER = Option("adapter", placeholder="NAME")
QUANTIZE = Option(
    "quantize",
    "Quantised weights",
    "Whole numbers of 8 or 4 bits, where bitsandbytes is installed; counts as another model.",
    ("none", "int8", "int4"),
)
TRUST = Option("trust", values=NO_YES)
