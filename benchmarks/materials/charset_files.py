"""Short files in legacy encodings, and the outcome of reading them with two detectors.

The sentences are written here or taken from Django's translations, which no word list was made from.
"""

import gettext
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import django
from charset_normalizer import from_bytes

from analysis.errors import BadInput
from experiments.materials.encoding import decode

WRITTEN = {
    ("cp1252", "mac-roman"): (
        "The boy said “hello”.",
        "She said ‘maybe’ – and left.",
        "John’s mother hasn’t seen the student’s book.",
        "They don’t know what you’re saying.",
        "Wait… who did the man — the tall one — see?",
        "“Who,” she asked, “did you see?”",
        "Le garçon a dit « bonjour » à l’élève.",
        "Das Mädchen sagt, es möchte „schöne“ Bücher.",
        "¿Qué pasó con el niño que comió más?",
        "Não sei se ele está em São João.",
        "Perché la città è così lontana dall’università?",
        "Peter lives in Zürich; the café’s owner is naïve.",
    ),
    ("latin-1",): ("Où est-il né?", "Das weiß jeder Schüler.", "smörgåsbord är gott", "Øl er dyrt på øen."),
    ("iso8859-15",): ("Le cœur a coûté 10 €.", "Sa sœur mange des œufs à Noël."),
    ("cp1251", "koi8-r"): ("Русский текст стоит здесь.", "Кого ты видел вчера в школе?", "Мальчик не спит."),
    ("utf-16-le", "utf-16-be"): ("She said “no”.", "Он спит.", "这个学生睡着了。"),
    ("cp932", "euc-jp"): ("猫が寝ている。", "太郎は花子が好きだと言った。"),
    ("gb18030",): ("这个学生的最好的朋友把坡卖了。", "男孩睡着了。"),
    ("cp950",): ("這個學生的老師沒有來。", "男孩睡著了。"),
    ("cp949",): ("철수가 사과를 먹었다.", "누가 그 책을 읽었니?"),
}
#: Language of Django's translations → codecs.
TRANSLATED = {
    "de": ("cp1252", "mac-roman"),
    "fr": ("cp1252", "mac-roman", "iso8859-15"),
    "es": ("latin-1", "mac-roman"),
    "pt": ("latin-1", "mac-roman"),
    "it": ("latin-1", "mac-roman"),
    "sv": ("latin-1", "mac-roman"),
    "pl": ("cp1250",),
    "cs": ("cp1250",),
    "tr": ("cp1254",),
    "ru": ("cp1251", "koi8-r", "mac-cyrillic"),
    "uk": ("cp1251",),
    "el": ("cp1253",),
    "he": ("cp1255",),
    "ar": ("cp1256",),
    "ja": ("cp932", "euc-jp"),
    "zh_Hans": ("gb18030",),
    "zh_Hant": ("cp950",),
    "ko": ("cp949",),
}
HEAD = "item,condition,sentence,expected\n"


@dataclass(frozen=True)
class ShortFile:
    """A table of one to three sentences in an encoding."""

    codec: str
    text: str

    @property
    def data(self) -> bytes:
        """The file's bytes, without a byte order mark."""
        return self.text.encode(self.codec)


def table_of(sentences: list[str]) -> str:
    """A comma-separated table of these sentences."""
    rows = (f'{number},a,"{text}",1\n' for number, text in enumerate(sentences, start=1))
    return HEAD + "".join(rows)


def written_files() -> Iterator[ShortFile]:
    """One file of each sentence written here, in each of its encodings."""
    for codecs, sentences in WRITTEN.items():
        for codec in codecs:
            for sentence in sentences:
                yield ShortFile(codec, table_of([sentence]))


def translated_files(n_files: int = 2, n_sentences: int = 3) -> Iterator[ShortFile]:
    """Files of Django's translations, drawn with a fixed seed."""
    rng = random.Random(13)
    for language, codecs in TRANSLATED.items():
        messages = _messages(language)
        for codec in codecs:
            fitting = [message for message in messages if _fits(message, codec)]
            for _ in range(n_files):
                yield ShortFile(codec, table_of(rng.sample(fitting, n_sentences)))


def _messages(language: str) -> list[str]:
    folder = Path(django.__file__).parent
    messages: set[str] = set()
    for path in folder.glob(f"**/locale/{language}/LC_MESSAGES/django.mo"):
        with path.open("rb") as file:
            messages |= {str(text) for text in gettext.GNUTranslations(file)._catalog.values()}  # type: ignore[attr-defined]
    return sorted(
        text
        for text in messages
        if 25 < len(text) < 160 and not text.isascii() and not set('%\n<{"') & set(text)
    )


def _fits(text: str, codec: str) -> bool:
    try:
        text.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def outcome_here(file: ShortFile) -> str:
    """Right, refused or wrong, as this project reads the file."""
    try:
        return "right" if decode(file.data).text == file.text else "wrong"
    except BadInput:
        return "refused"


def outcome_of_charset_normalizer(file: ShortFile) -> str:
    """Right, refused or wrong, as charset-normalizer's best guess reads the file."""
    best = from_bytes(file.data).best()
    if best is None:
        return "refused"
    try:
        return "right" if file.data.decode(best.encoding) == file.text else "wrong"
    except UnicodeDecodeError:
        return "wrong"


def outcomes(files: list[ShortFile], detector: Callable[[ShortFile], str]) -> Counter[str]:
    """Numbers of files that are right, refused and wrong."""
    return Counter(map(detector, files))
