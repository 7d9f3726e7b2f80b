"""Recognize legacy encodings of short texts by how well the decoded characters fit a language.

An eight-bit file cannot name its encoding: ``0x93`` is a quotation mark in Windows-1252, *ì* in Mac Roman.
Every candidate is decoded and scored with the languages that it was made for: letters of the language's
alphabet, punctuation where punctuation belongs, and frequent words. Two candidates whose texts differ and
whose scores are close make the encoding undecidable.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from experiments.materials.charset_languages import (
    ARABIC,
    BALTIC,
    CENTRAL,
    CYRILLIC,
    GREEK,
    HEBREW,
    HIRAGANA,
    KATAKANA,
    LATIN,
    SPACELESS,
    THAI,
    TURKISH,
    Language,
)


@dataclass(frozen=True)
class Charset:
    """A legacy encoding.

    Attributes
    ----------
    name : str
        Its display name.
    codec : str
        Python's codec.
    languages : mapping of str to Language, or str
        The languages that it was made for; the code of a language whose characters take two bytes.
    """

    name: str
    codec: str
    languages: Mapping[str, Language] | str


#: Candidates; of two that decode a file to the same text, the first is named.
CHARSETS = (
    Charset("Latin-1", "latin-1", LATIN),
    Charset("Windows-1252", "cp1252", LATIN),
    Charset("Latin-9", "iso8859-15", LATIN),
    Charset("Mac Roman", "mac-roman", LATIN),
    Charset("Windows-1250", "cp1250", CENTRAL),
    Charset("Latin-2", "iso8859-2", CENTRAL),
    Charset("Windows-1254", "cp1254", TURKISH),
    Charset("Windows-1257", "cp1257", BALTIC),
    Charset("Windows-1251", "cp1251", CYRILLIC),
    Charset("KOI8-R", "koi8-r", CYRILLIC),
    Charset("Mac Cyrillic", "mac-cyrillic", CYRILLIC),
    Charset("Windows-1253", "cp1253", GREEK),
    Charset("ISO 8859-7", "iso8859-7", GREEK),
    Charset("Windows-1255", "cp1255", HEBREW),
    Charset("Windows-1256", "cp1256", ARABIC),
    Charset("Windows-874", "cp874", THAI),
    Charset("Shift-JIS", "cp932", "ja"),
    Charset("EUC-JP", "euc-jp", "ja"),
    Charset("GB18030", "gb18030", "zh"),
    Charset("Big5", "cp950", "zh-Hant"),
    Charset("EUC-KR", "cp949", "ko"),
)

_MIN_SCORE = 0.75  # correctly decoded text scores 0.9 to 1.6, text in a wrong encoding below 0.7
_MIN_MARGIN = 0.12  # between two candidates with different texts; below, the encoding is undecidable
_MIN_DIFFERENCE = 0.6  # mean over the characters at which two candidates differ; decides where they are few
_MIN_SCRIPT_SHARE = 0.2  # of the letters of a text in Cyrillic, Greek and so on are not ASCII
_SAMPLE_BYTES = 20_000  # of lines with non-ASCII bytes; more would not change the decision
_MAX_CHARACTERS = 600  # non-ASCII characters of a sample that are scored
_WORD_WEIGHT = 0.6
_USUAL_WORD_SHARE = 0.3  # of a sentence's words are in a list of thirty frequent ones
_RARE_LETTER = 0.4  # off for a letter that makes three vowels or four consonants in a row
_VOWELS = frozenset("aeiouyæøœıаеёиоуыэюяієαεηιουω")
_FOREIGN = frozenset("éèêëïöüñçàâôåäøæœíáóúß")  # letters of loanwords and names
_ODD_LETTERS = frozenset("ªºƒˆˇﬁﬂΩπµ∏∂∫")
_APOSTROPHE = "’"
_BETWEEN_WORDS = re.compile(r"[\s\x00-\x40\x5b-\x60\x7b-\x7f“”‘’«»„–—…]+")
_QUOTES = frozenset("‘’“”„‚«»‹›")
_AFTER_DIGIT = frozenset("°½¼¾²³¹ªº€£¥§%")
_EAST_ASIAN_MARKS = frozenset("、。，．！？：；「」『』（）《》〈〉【】・…—～“”‘’·　")
_OPENING = frozenset("‘“„‚«‹")
Score = tuple[float, dict[int, float]]  # of a text, and of each of its non-ASCII characters by position
Context = tuple[int, str, str, str]  # position, character before, character, character after


@dataclass(frozen=True)
class Candidate:
    """A candidate encoding of a file.

    Attributes
    ----------
    charset : Charset
    text : str
        The sample as it reads in this encoding.
    score : float
    weights : mapping of int to float
        Score of each non-ASCII character by its position in the text.
    """

    charset: Charset
    text: str
    score: float
    weights: Mapping[int, float]


def ranked_charsets(data: bytes) -> list[Candidate]:
    """Return the candidates that decode a sample of the data, best first, each decoded text once."""
    sample = non_ascii_sample(data)
    candidates: dict[str, Candidate] = {}
    for charset in CHARSETS:
        try:
            text = sample.decode(charset.codec)
        except UnicodeDecodeError:
            continue
        if charset.name == "Latin-1" and re.search("[\x80-\x9f]", text):
            continue  # control characters: Windows-1252 has letters and punctuation at these bytes
        score, weights = _score_text(text, charset)
        if text not in candidates or score > candidates[text].score:
            candidates[text] = Candidate(charset, text, score, weights)
    return sorted(candidates.values(), key=lambda candidate: -candidate.score)


def decidable(ranked: list[Candidate]) -> bool:
    """Whether the best candidate is plausible and clearly better than all others."""
    if not ranked or ranked[0].score < _MIN_SCORE:
        return False
    return all(_is_clearly_better(ranked[0], other) for other in ranked[1:])


def _is_clearly_better(best: Candidate, other: Candidate) -> bool:
    if best.score - other.score >= _MIN_MARGIN:
        return True
    if len(best.text) != len(other.text):
        return False
    # Related encodings, such as Windows-1251 and Mac Cyrillic, differ in few characters.
    differing = [at for at in best.weights if best.text[at] != other.text[at]]
    difference = sum(best.weights[at] - other.weights.get(at, 0.0) for at in differing)
    return bool(differing) and difference / len(differing) >= _MIN_DIFFERENCE


def plausible(ranked: list[Candidate]) -> list[Candidate]:
    """Return the candidates that a reader would want to compare."""
    return [candidate for candidate in ranked if candidate.score >= _MIN_SCORE - 2 * _MIN_MARGIN][:4]


def non_ascii_sample(data: bytes) -> bytes:
    """Return the first lines that contain a byte above 0x7F.

    No candidate uses the bytes of line ends within a character.
    """
    lines, size = [], 0
    for match in re.finditer(rb"[^\r\n]*[\x80-\xff][^\r\n]*", data):
        lines.append(match[0])
        size += len(match[0])
        if size >= _SAMPLE_BYTES:
            break
    return b"\n".join(lines)


def _score_text(text: str, charset: Charset) -> Score:
    """Score a decoded text, and each of its characters, with the best fitting language of its encoding."""
    contexts = list(_contexts(text))
    if isinstance(charset.languages, str):
        return _east_asian_score(contexts, charset.languages)
    words = list(filter(None, _BETWEEN_WORDS.split(text.lower())))
    scores = [_language_score(text, words, contexts, language) for language in charset.languages.values()]
    return max(scores, key=lambda scored: scored[0])


def _contexts(text: str) -> Iterator[Context]:
    """Yield the first non-ASCII characters with their positions, each between its neighbours."""
    padded = f" {text} "
    for number, match in enumerate(re.finditer(r"[^\x00-\x7f]", padded)):
        if number == _MAX_CHARACTERS:
            return
        index = match.start()
        yield index - 1, padded[index - 1], padded[index], padded[index + 1]


def _language_score(text: str, words: list[str], contexts: list[Context], language: Language) -> Score:
    weights = {context[0]: _character_weight(text, context, language) for context in contexts}
    score = sum(weights.values()) / len(weights)
    if not _is_latin(language):
        words = [word for word in words if not word.isascii()]
        letters = [character for character in text if character.isalpha()]
        script_share = sum(character > "\x7f" for character in letters) / max(len(letters), 1)
        score -= 3 * max(0.0, _MIN_SCRIPT_SHARE - script_share)
    # A word of one letter says little: most languages have it.
    n_frequent = sum(0.3 if len(word) == 1 else 1.0 for word in words if word in language.words)
    return score + _WORD_WEIGHT * min(1.0, n_frequent / max(len(words), 1) / _USUAL_WORD_SHARE), weights


def _is_latin(language: Language) -> bool:
    return not language.letters or language.letters[0] < "\u0370"


def _character_weight(text: str, context: Context, language: Language) -> float:
    index, before, character, after = context
    if character.lower()[0] in language.letters or (character.isalpha() and character not in _ODD_LETTERS):
        return _letter_weight(text, context, language)
    if character == _APOSTROPHE:
        around = text[max(0, index - 10) : index], text[max(0, index - 3) : index + 6]
        if language.elisions and any(map(language.elisions.search, around)):
            return 1.3
        if before.isalpha() and not after.isalpha() and "‘" not in text[max(0, index - 200) : index]:
            return 0.3  # a closing quotation mark without an opening one
    if character in _AFTER_DIGIT and (
        text[max(0, index - 2) : index].strip()[-1:].isdigit() or after.isdigit()
    ):
        return 0.8
    return _mark_weight(before, character, after)


def _letter_weight(text: str, context: Context, language: Language) -> float:
    index, before, character, after = context
    lower = character.lower()[0]
    is_latin = _is_latin(language)
    if (character.isupper() and before.islower()) or (character.islower() and after.isupper()):
        return -1.0
    if before.isdigit() or after.isdigit():
        return -0.3
    if is_latin and before > "\x7f" and after > "\x7f" and before.isalpha() and after.isalpha():
        return -0.5  # three non-ASCII letters in a row are rare in Latin script
    if not is_latin and (_is_ascii_letter(before) or _is_ascii_letter(after)):
        return -1.0
    if not before.isalpha() and not after.isalpha() and before not in language.letters:
        return 1.0 if lower in language.words else -0.3  # a word of one letter
    rank = language.letters.find(lower)
    if rank < 0:
        return 0.6 if is_latin and lower in _FOREIGN else -0.5
    # Cyrillic encodings permute one alphabet and its case: frequent letters tell them apart.
    weight = 1.0 if is_latin or rank < 20 else 0.5
    has_vowels = not language.letters or language.letters[0] < "\u0590"  # Hebrew and Arabic write few
    if (has_vowels and _is_unpronounceable(text, index)) or (lower == "ς" and after.isalpha()):
        weight -= _RARE_LETTER
    return weight / 2 if before.isupper() and character != lower else weight


def _is_unpronounceable(text: str, index: int) -> bool:
    """Whether a letter is among three vowels or four consonants of a word in a row."""
    word_start = re.search(r"[^\W\d_]*$", text[max(0, index - 3) : index])
    word_end = re.match(r"[^\W\d_]*", text[index : index + 4])
    letters = (word_start[0] if word_start else "") + (word_end[0] if word_end else "")
    is_vowel = "".join("v" if _base(letter) in _VOWELS else "c" for letter in letters)
    at = len(word_start[0]) if word_start else 0
    run = re.match(rf"{is_vowel[at]}*", is_vowel[at:]), re.search(rf"{is_vowel[at]}*$", is_vowel[:at])
    length = sum(len(part[0]) for part in run if part)
    return length >= (3 if is_vowel[at] == "v" else 4)


def _base(letter: str) -> str:
    lower = letter.lower()
    return lower if lower == "й" else unicodedata.normalize("NFD", lower)[0]


def _is_ascii_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _mark_weight(before: str, character: str, after: str) -> float:
    """Score a character that is no letter: between two letters hardly any belongs."""
    within_word = before.isalpha() and after.isalpha()
    if character == "\u00a0":
        return 0.6 if before in "«0123456789" or after in "»:;?!%€" else 0.3
    if character in _QUOTES:
        if within_word:
            return 0.2 if character == _APOSTROPHE else -0.5
        if character in "«»" and before.isspace() and after.isspace():
            return 0.9  # as in French
        if character in _OPENING:
            return -0.3 if before.isalpha() else 0.4 if after.isspace() else 0.9
        return 0.4 if before.isspace() else 0.9
    if character in "–—":
        is_apart = (before.isspace() and after.isspace()) or (before.isdigit() and after.isdigit())
        return 0.9 if is_apart else 0.3 if within_word else -0.2
    if character == "…":
        return -0.3 if within_word else 0.8
    if character == "·" and before in "lL" and after in "lL":
        return 1.0  # Catalan
    if character in "¿¡":
        return 1.0 if after.isalpha() and not before.isalnum() else -0.5
    return -1.0 if within_word or "\x80" <= character < "\xa0" else -0.6


def _east_asian_score(contexts: list[Context], code: str) -> Score:
    """Score a text whose characters take two bytes each."""
    frequent = 0
    weights: dict[int, float] = {}
    for index, before, character, after in contexts:
        weight = _kanji_weight(character) if code == "ja" else _two_byte_weight(character, code)
        frequent += weight == 1.0
        if character.isalpha() and (_is_ascii_letter(before) or _is_ascii_letter(after)):
            weight -= 1.0  # two letters of a word in another encoding became one character
        weights[index] = weight
    usual = 0.25 if code == "ja" else 0.2
    share = frequent / len(contexts)
    score = sum(weights.values()) / len(weights) + _WORD_WEIGHT * min(1.0, share / usual)
    return score - (0.6 if share < usual / 3 else 0.0), weights


def _kanji_weight(character: str) -> float:
    if character in HIRAGANA or character in _EAST_ASIAN_MARKS:
        return 1.0
    if character in KATAKANA:
        return 0.9
    if not "一" <= character <= "鿿":
        return -1.0 if "｡" <= character <= "ﾟ" else -0.3 if "！" <= character <= "～" else -0.8
    try:
        lead = character.encode("cp932")[0]
    except UnicodeEncodeError:
        return -1.0
    return 0.5 if 0x88 <= lead <= 0x97 else -0.3  # the first level holds the characters in common use


def _two_byte_weight(character: str, code: str) -> float:
    if character in SPACELESS[code] or character in _EAST_ASIAN_MARKS:
        return 1.0
    codec, last_lead = {"zh": ("gb2312", 0xD7), "zh-Hant": ("big5", 0xC6), "ko": ("euc-kr", 0xC8)}[code]
    try:
        encoded = character.encode(codec)
    except UnicodeEncodeError:
        return -0.7
    is_letter = "一" <= character <= "鿿" if code != "ko" else "가" <= character <= "힣"
    if not is_letter:
        return 0.2 if "！" <= character <= "～" else -0.8
    return 0.4 if encoded[0] <= last_lead else -0.4  # the first level holds the characters in common use
