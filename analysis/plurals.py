"""A number with its noun, as captions and reports say it."""


def plural(number: int, word: str, words: str = "") -> str:
    """Give a number with its noun.

    Parameters
    ----------
    number : int
    word, words : str
        One and several; several is the word with an s unless given.

    Returns
    -------
    str

    Examples
    --------
    >>> plural(1, "paradigm"), plural(67, "paradigm"), plural(2, "phenomenon", "phenomena")
    ('1 paradigm', '67 paradigms', '2 phenomena')
    """
    return f"{number:,} {word if number == 1 else words or word + 's'}"
