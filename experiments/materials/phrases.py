"""Phrases of Japanese and Chinese texts: the places where a line may break, alike in every browser."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import budoux


def phrases(text: str, language: str) -> tuple[str, ...]:
    """Return the phrases of a text written without spaces; the whole text in other languages.

    Examples
    --------
    >>> phrases("太郎が花子に会ったことを知らない。", "ja")
    ('太郎が', '花子に', '会った', 'ことを', '知らない。')
    >>> phrases("She left.", "en")
    ('She left.',)
    """
    model = model_name(language)
    return _phrases(text, model) if model else (text,)


def model_name(language: str) -> str:
    """Return the model of a language tag: ``ja``, ``zh-hans`` or ``zh-hant``; empty for other languages.

    Examples
    --------
    >>> [model_name(tag) for tag in ("ja-JP", "zh", "zh-Hant", "zh_TW", "yue", "de")]
    ['ja', 'zh-hans', 'zh-hant', 'zh-hant', 'zh-hant', '']
    """
    primary, *subtags = language.replace("_", "-").casefold().split("-")
    if primary == "ja":
        return "ja"
    if primary not in {"zh", "cmn", "yue"}:
        return ""
    is_traditional = {"hant", "tw", "hk", "mo"} & set(subtags) or primary == "yue" and "hans" not in subtags
    return "zh-hant" if is_traditional else "zh-hans"


@lru_cache(maxsize=20_000)
def _phrases(text: str, model: str) -> tuple[str, ...]:
    return tuple(_parser(model).parse(text))


@cache
def _parser(model: str) -> "budoux.Parser":
    import budoux  # only where a study needs it: it reads a model of 60 kB

    return {
        "ja": budoux.load_default_japanese_parser,
        "zh-hans": budoux.load_default_simplified_chinese_parser,
        "zh-hant": budoux.load_default_traditional_chinese_parser,
    }[model]()
