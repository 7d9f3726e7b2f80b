"""The options of our own kinds of model with their values: checked before a model is opened."""

from analysis.errors import UnknownName
from analysis.scoring.arpa import ENGINES
from analysis.scoring.base import ScorerAddress, read_flag
from analysis.scoring.causal import BOUNDARIES, STARTS, WAYS
from analysis.scoring.classifier import OUTPUTS
from analysis.scoring.neural.loading import DEVICES, DTYPES, VOCABULARIES
from analysis.scoring.neural.masked_copies import METHODS
from analysis.scoring.tokens import CASINGS, PUNCTUATION, UNITS

Values = tuple[str, ...]
FLAG: Values = ("no", "yes")
ANY: Values = ()

_WORDS: dict[str, Values] = {"tokens": UNITS, "casing": CASINGS, "punctuation": PUNCTUATION, "eos": FLAG}
_LOADED: dict[str, Values] = {"dtype": DTYPES, "device": DEVICES, "trust": FLAG}
_SUBWORDS: dict[str, Values] = {
    "casing": CASINGS, "space": FLAG, "unigram": ANY, "vocabulary": VOCABULARIES, **_LOADED,
}  # fmt: skip
OPTIONS: dict[str, dict[str, Values]] = {
    "arpa": {**_WORDS, "bos": FLAG, "engine": ENGINES},
    "lstm": {**_WORDS, "device": DEVICES},
    "hf-causal": {**_SUBWORDS, "bos": STARTS, "eos": FLAG, "boundary": BOUNDARIES, "path": WAYS},
    "hf-masked": {**_SUBWORDS, "method": METHODS},
    "hf-classifier": {"output": OUTPUTS, "label": ANY, "casing": CASINGS, **_LOADED},
}


def check_options(address: ScorerAddress, *, without: Values = ()) -> None:
    """Check the names and values of an address's options as its scorer would.

    Parameters
    ----------
    address : ScorerAddress
        Of a kind in :data:`OPTIONS`.
    without : tuple of str
        Options that may not be named here.

    Raises
    ------
    UnknownName, BadInput
        If the kind has no such option, or the option no such value; near names are suggested.

    Examples
    --------
    >>> check_options(ScorerAddress("hf-masked", "bert-base-uncased", {"boundary": "corrected"}))
    Traceback (most recent call last):
    analysis.errors.UnknownName: unknown option of hf-masked 'boundary'. Did you mean vocabulary?
    """
    known = {name: values for name, values in OPTIONS[address.kind].items() if name not in without}
    for name, given in address.options.items():
        if name not in known:
            raise UnknownName(f"option of {address.kind}", name, list(known))
        if known[name] == FLAG:
            read_flag(address, name, default=False)
        elif known[name] and given not in known[name]:
            raise UnknownName(name, given, known[name])
