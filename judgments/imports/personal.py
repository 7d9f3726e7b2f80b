"""Personal details in imported files: ids for the vault, columns and answers that are not stored."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from ipaddress import ip_interface

import pandas as pd

from analysis.text import plural
from experiments.materials.schema import mapped_columns, simple_name
from judgments.imports.readers import JudgmentFile
from judgments.imports.readers.cells import EMPTY
from judgments.imports.readers.prolific import PROLIFIC_ID

#: Patterns of platform ids, which are never used as pseudonyms.
PLATFORM_IDS = {
    "mturk": re.compile(r"A(?=[0-9A-Z]*[0-9])[0-9A-Z]{9,19}"),
    "prolific": PROLIFIC_ID,
    "connect": re.compile(r"(?=.*[A-F])(?=.*[0-9])[0-9A-F]{32}"),
    "qualtrics": re.compile(r"R_[0-9A-Za-z]{11,20}"),
    "email": re.compile(r"(.*[\s<(:,;])?[^@\s]+@[^@\s]+\.[^@\s]+(\s.*)?", re.DOTALL),
    "phone": re.compile(
        r"\+\d[\d ()/-]{6,20}|00[1-9]\d{8,13}|\(\d{2,5}\)[ \d/-]{6,14}|0\d{2,5}[ /-]\d{5,9}|\d{3}-\d{3}-\d{4}"
    ),
    "orcid": re.compile(r"(https?://orcid\.org/)?\d{4}-\d{4}-\d{4}-\d{3}[\dX]"),
    "address": re.compile(r"https?://\S+"),
}
_ID_COLUMNS = (
    ("sona", re.compile(r"^sona|survey_code$")),
    ("connect", re.compile(r"connect_?id|connect_?participant|cloud_?research")),
)
_ABOUT_PERSON = re.compile(
    r"\b(first|last|full|family|given|your|sur)[\s_-]*name\b|\bsurname|\bvorname|\bnachname|\be[\s_-]?mail\b|"
    r"\bphone|\btelefon|\bstreet\b|\bpost(al)?[\s_-]?code|\bzip[\s_-]?code|\b(date|day)[\s_-]of[\s_-]birth|"
    r"\bbirth[\s_-]?(date|day)|\bgeburtsdatum|\bip[\s_-]?addr|\b(home|postal|mailing)[\s_-]address|"
    r"\b(student|matriculation)[\s_-]?(number|no|nr|id)\b|\bmatrikel|\bsona[\s_-]?id\b|\blatitude\b|"
    r"\blongitude\b|\blocationl(at|ong)|\bdob\b|\bgeburtstag|\bnick[\s_-]*name|"
    r"\buser[\s_-]*name|\bhandy(nummer)?\b|\bmobile (phone|number)|\bsocial security|\bsignature\b|"
    r"\bunterschrift|\bwie hei(ß|ss)(t du|en sie)|\bc[óo]mo te llamas|\bcomment t.appelles|\bcome ti chiami|"
    r"как вас зовут|как тебя зовут|\b(ihre?n?|dein(en)?) name|\b(su|tu) nombre\b|\bapellidos?\b|"
    r"\bnombre (completo|y apellidos?)|\bpr[ée]nom\b|\bnom de famille|\b(votre|ton) nom\b|"
    r"\b(seu|teu|tuo|suo) nome\b|\bsobrenome|\bcognome|"
    r"\bfamilienname|\b(uw|je) naam\b|姓名|氏名|名前|성함|이름|\bимя\b|\bфамилия",
    re.IGNORECASE,
)
_PHONE_WITHIN = re.compile(
    r"(?<![\w.,-])(\+\d[\d ()/.-]{6,18}\d|\(\d{2,5}\)[ /-]?\d[\d /-]{4,12}\d|\d{3}[-. ]\d{3}[-. ]\d{4}|"
    r"0\d{2,5}[ /-]\d[\d /-]{3,10}\d)(?![\w-])|"
    r"\b(tele)?(phone|tel|mobile|cell|handy|whatsapp|telefon|tlf|móvil)\b\D{0,20}\d[\d ()/.-]{5,18}\d",
    re.IGNORECASE,
)
_POSTAL = re.compile(
    r"(?-i:\d+[A-Za-z]?,? ([A-Z\d][\w.'’-]* ){1,4})(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|"
    r"blvd|court|ct|terrace|square|crescent|close)\b.{0,80}|"
    r"[^\W\d]([\w.-]| ){0,40}(stra(ß|ss)e|str\.?|weg|gasse|allee|platz|damm|ufer|straat|laan|gatan|vägen)"
    r" ?\d+ ?[a-z]?\b.{0,80}|"
    r"\d+ ?(bis|ter)?,? (rue|avenue|boulevard|place|chemin|allée|impasse) .{2,80}|"
    r"(calle|c/|avenida|av\.|plaza|paseo|via|viale|piazza|rua|ulica|ul\.) ?[^\d]{2,40}\d+.{0,80}|"
    r"(.{0,60}, ?)?p\.? ?o\.? ?box \d+.{0,80}|"
    r"(?-i:(.{2,60}, ?)?(\d{5}|\d{4} ?[A-Z]{2}|[A-Z]-\d{4,5}) [A-Z][\w'’.-]+( [A-Z(][\w'’.()-]+){0,2})|"
    r"(?-i:.{2,50} \d+ ?[a-z]?, ?\d{4} [A-Z][\w'’.-]+)|"
    r"(?-i:(.{2,80}[, ])?[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})|(?-i:.{5,80}, [A-Z]{2},? \d{5}(-\d{4})?)",
    re.IGNORECASE,
)
_NAME_COLUMNS = frozenset({"name", "names", "participant_name", "subject_name", "worker_name"})


def id_platform(name: str, *, stated: str = "") -> str:
    """Return the kind of a personal id: a platform's, an address, a name; empty for a pseudonym.

    Examples
    --------
    >>> id_platform("203.0.113.7"), id_platform("2001:db8::1"), id_platform("Ada Muster"), id_platform("p01")
    ('ip', 'ip', 'name', '')
    """
    if stated:
        return stated
    text = name.strip()
    forms = ((name, form) for name, form in PLATFORM_IDS.items() if name != "email" or "@" in text)
    platform = next((platform for platform, form in forms if form.fullmatch(text)), "")
    return platform or ("ip" if _is_address(text) else "name" if is_name(text) else "")


def _is_address(text: str) -> bool:
    """Return whether a text is one or more network addresses, as proxies list them."""
    if not re.match(r"[\[:0-9A-Fa-f][^\s]*[.:]", text):
        return False
    try:
        for address in re.split(r"[\s,;]+", text):
            ip_interface(re.sub(r"^(\d+(?:\.\d+){3}):\d+$|^\[(.*)\](?::\d+)?$", r"\1\2", address))
    except ValueError:
        return False
    return True


def is_name(text: str) -> bool:
    """Return whether a text looks like the name of a person: capitalized words, or words with spaces.

    Examples
    --------
    >>> is_name("Ada"), is_name("O'Brien, Zoë"), is_name("ada muster"), is_name("P"), is_name("s12")
    (True, True, True, False, False)
    >>> is_name("王小明"), is_name("j.muster"), is_name("anna muster 2"), is_name("group one 2")
    (True, True, True, False)
    """
    if re.fullmatch(r"[\u3400-\u9fff]{2,4}|[\uac00-\ud7a3]{2,4}|[a-z]\.[a-z]{3,}|@\w{3,}", text.strip()):
        return True
    numbered = re.fullmatch(r"(([^\W\d_]{2,}) [^\W\d_]{2,}) ?\d{1,4}", text.strip())
    if numbered and not _PSEUDONYMS.fullmatch(numbered[2].casefold()):
        text = numbered[1]
    words = re.split(r"[\s,]+", text.strip())
    if text.strip() in EMPTY or not all(re.fullmatch(r"[^\W\d_]+(['’.-][^\W\d_]*)*", word) for word in words):
        return False
    is_capitalized = all(word[0].isupper() and not word.isupper() for word in words)
    return len(words) > 1 or is_capitalized and len(text) > 2


_WORD = re.compile(r"([^\W\d_]{3,}(?:[-_.][^\W\d_]+)*)(?:[-_.]?(?:(?:19|20)?\d\d|\d))?")
_PSEUDONYMS = re.compile(
    r"(anon|participant|part|subj|sub|speaker|rater|annotator|worker|turker|user|person|informant|respondent|"
    r"judge|coder|pilot|test|guest|native|control|patient|student|pupil|child|adult|group|list|model|human|"
    r"expert|bot|demo|dummy|example|admin|unknown|none|null|proband|teilnehmer|versuchsperson|sujet|sujeto|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|alpha|beta|gamma|delta)[^\W\d_]{0,5}"
)


def words_like_names(ids: Iterable[str]) -> set[str]:
    """Return the ids that are single words, as names without capitals, unless the ids are codes.

    Ids that share a word and differ in what follows it are codes.

    Examples
    --------
    >>> sorted(words_like_names(["maria", "jonas_b", "p01", "anon", "d41d8cd98f"]))
    ['jonas_b', 'maria']
    >>> words_like_names(["otto12", "otto13", "otto14"]), sorted(words_like_names(["anna", "lena", "otto"]))
    (set(), ['anna', 'lena', 'otto'])
    """
    people = sorted({person.strip() for person in ids})
    words = {person: match[1].casefold() for person in people if (match := _WORD.fullmatch(person))}
    shared = Counter(re.split(r"[-_.]", word)[0] for word in words.values())
    return {
        person
        for person, word in words.items()
        if (first := re.split(r"[-_.]", word)[0])
        and not _PSEUDONYMS.fullmatch(first)
        and shared[first] <= max(1, len(words) / 3)
        and (not word.isascii() or re.search(r"[aeiouy]", first) and not re.search(r"[^aeiouy]{5}", first))
    }


def column_platform(column: str) -> str:
    """Return the platform whose ids a column holds by its name; empty for others."""
    name = simple_name(column)
    return next((platform for platform, form in _ID_COLUMNS if form.search(name)), "")


def _typed_kind(text: str) -> str:
    """Return the kind of details that a typed answer holds, such as a telephone number among words."""
    if not any(sign.isdigit() for sign in text):
        return ""
    if _PHONE_WITHIN.search(text):
        return "phone"
    return "postal address" if _POSTAL.fullmatch(" ".join(text.split())) else ""


def personal_kind(column: str, cells: Iterable[str]) -> str:
    """Return the kind of personal details that a column holds; empty if it holds none.

    Addresses count wherever one occurs, ids of platforms where most cells are such, names by the column.
    """
    values = {str(cell).strip() for cell in cells} - {"", "None", "nan"}
    if not values:
        return ""
    if _ABOUT_PERSON.search(re.sub(r"[_.]+", " ", column)):
        return "details of the person"
    kinds = {value: id_platform(value) or _typed_kind(value) for value in values}
    for kind in ("email", "ip", "phone", "postal address"):
        if kind in kinds.values():
            return kind
    for kind in ("prolific", "mturk", "connect", "qualtrics"):
        if sum(found == kind for found in kinds.values()) > len(values) / 2:
            return kind
    if (
        simple_name(column) in _NAME_COLUMNS
        and sum(found == "name" for found in kinds.values()) > len(values) / 2
    ):
        return "name"
    return ""


_QUESTIONS = re.compile(
    r"\b(age|alter|edad|gender|sex|geschlecht|genero|género|sexe|education|schooling|degree|bildung|handedness|"
    r"occupation|profession|beruf|nationality|ethnicity|race|dialect|bilingual|multilingual|"
    r"year of birth|birth ?year|geburtsjahr|(mother|native|first|home) (tongue|language)s?|muttersprache|"
    r"native lang|native english|languages? (spoken|known)|other languages?|l1|l2|country|"
    r"(country|place) of (birth|residence)|hometown|home ?town|residence)\b",
    re.IGNORECASE,
)
_NOT_ABOUT_PERSON = re.compile(r"\b(item|sentence|stimulus|stim|verb|noun|subject|object|prime|target)\b")


def with_background(read: JudgmentFile) -> JudgmentFile:
    """Keep columns about the person with participants, where they have one value for each, and name them."""
    factors = mapped_columns(str(read.mapping.get("condition", "")), [])
    named = [
        name
        for name in read.extra
        if name not in factors
        and _QUESTIONS.search(words := re.sub(r"[\W_]+", " ", re.sub(r"([a-z])([A-Z])", r"\1 \2", name)))
        and not _NOT_ABOUT_PERSON.search(words.casefold())
    ]
    if not named:
        return read
    people = read.judgments["session"].map(read.sessions.set_index("session")["participant"])
    moved, varying = {}, []
    for name in named:
        answers = pd.DataFrame({"person": people, "answer": read.judgments[f"extra:{name}"]})
        answers = answers[answers["answer"] != ""].drop_duplicates()
        n_answers = answers["person"].value_counts()
        if (n_answers == 1).all():
            moved[name] = dict(zip(answers["person"], answers["answer"], strict=True))
        elif (n_answers == 1).mean() > 0.5:  # else it is a property of the sentences
            varying.append(name)
    backgrounds = [
        {
            **{name: by_person[person] for name, by_person in moved.items() if person in by_person},
            **(own or {}),
        }
        for person, own in zip(read.participants["participant"], read.participants["background"], strict=True)
    ]
    notes = [f"{', '.join(moved)}: one value for each participant, kept with participants"] if moved else []
    warnings = [
        f"{', '.join(varying)}: named like questions about the person, but with several answers of one "
        "participant; kept with trials. --map background=COLUMN keeps the first answer."
    ]
    return replace(
        read,
        judgments=read.judgments.drop(columns=[f"extra:{name}" for name in moved]),
        extra=tuple(name for name in read.extra if name not in moved),
        participants=read.participants.assign(
            background=pd.Series(backgrounds, index=read.participants.index, dtype=object)
        ),
        notes=(*read.notes, *notes),
        warnings=(*read.warnings, *(warnings if varying else ())),
    )


def without_personal(read: JudgmentFile, *, keep_names: bool = False) -> JudgmentFile:
    """Leave personal columns and answers out, mark ids for the vault, and name all of them in warnings.

    With ``keep_names`` ids that may be names are codes, and stay as pseudonyms.
    """
    warnings, notes = [], []
    dropped = {
        name: kind
        for name in read.extra
        if (kind := personal_kind(name, read.judgments[f"extra:{name}"].unique()))
    }
    judgments = read.judgments.drop(columns=[f"extra:{name}" for name in dropped])
    people = read.participants
    answers: dict[str, set[str]] = {}
    for background in people["background"]:
        for question, answer in (background or {}).items():
            answers.setdefault(question, set()).add(str(answer))
    private = {
        question: kind for question, texts in answers.items() if (kind := personal_kind(question, texts))
    }
    if dropped or private:
        listed = ", ".join(f"{name} ({kind})" for name, kind in {**dropped, **private}.items())
        warnings.append(f"not stored, because they identify participants: {listed}.")
    backgrounds = [
        {question: answer for question, answer in (background or {}).items() if question not in private}
        for background in people["background"]
    ]
    stated = column_platform(str(read.mapping.get("participant", "")))
    platforms = [
        id_platform(person, stated=recruiter or stated)
        for person, recruiter in zip(people["participant"], people["recruiter"], strict=True)
    ]
    words = words_like_names(people["participant"])
    platforms = [
        platform or ("name" if person.strip() in words else "")
        for person, platform in zip(people["participant"], platforms, strict=True)
    ]
    if n_names := platforms.count("name"):
        subject = f"{plural(n_names, 'participant')} named by words that may be names"
        if keep_names:
            platforms = ["" if platform == "name" else platform for platform in platforms]
            warnings.append(f"{subject}: kept as pseudonyms, as requested; releases show them.")
        else:
            warnings.append(
                f"{subject}: the words go to the vault, and pseudonyms stand for them. If they are codes: "
                "--keep-names (on the page Names of participants)."
            )
    counts = pd.Series([platform for platform in platforms if platform], dtype=object).value_counts()
    if len(counts):
        kinds = ", ".join(f"{number} {kind}" for kind, number in counts.items())
        notes.append(
            f"ids of participants that identify them ({kinds}) go to the vault; pseudonyms stand for them"
        )
    people = people.assign(
        background=pd.Series(backgrounds, index=people.index, dtype=object),
        recruiter=pd.Series(platforms, index=people.index, dtype=object),
    )
    return replace(
        read,
        judgments=judgments,
        extra=tuple(name for name in read.extra if name not in dropped),
        participants=people,
        notes=(*read.notes, *notes),
        warnings=(*read.warnings, *warnings),
    )
