"""A lexicon of some 150 words with regular forms, for tests of the paradigm language."""

from functools import lru_cache

from experiments.generation.lexicon import Lexeme, Lexicon

PEOPLE = """
baker porter mayor clerk judge sailor tailor guard miller carter cook gardener
""".split()  # noqa: SIM905
WOMEN = """
abbess duchess hostess princess waitress seamstress countess heiress
""".split()  # noqa: SIM905
MEN = """
monk butler duke knight abbot count baron usher
""".split()  # noqa: SIM905
TOOLS = """
hammer ladder kettle basket lamp clock bucket ribbon mirror candle pillow anvil apron axe
""".split()  # noqa: SIM905
LETTERS = """
letter novel poem story ballad essay diary pamphlet
""".split()  # noqa: SIM905
IRREGULAR = {"goose": "geese", "mouse": "mice"}
TRANSITIVE = """
admire polish mend inspect describe ignore paint clean carry move weigh wrap
""".split()  # noqa: SIM905
INTRANSITIVE = """
yawn snore smile laugh arrive cough sneeze kneel faint giggle
""".split()  # noqa: SIM905
REFLEXIVE = """
excuse defend blame introduce prepare console
""".split()  # noqa: SIM905
ADJECTIVES = """
tall old heavy odd small broken round dusty plain shiny
""".split()  # noqa: SIM905
NAMES = {"f": ("Priya", "Beatriz", "Alice", "Marta"), "m": ("Yusuf", "Oscar", "Henry", "Pavel")}


def plural(word):
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch")) else f"{word}s"


def noun(lemma, *classes, **features):
    features = {"class": classes, "count": ("count",), "gender": ("none",), "sound": ()} | features
    return Lexeme(f"{lemma}.noun", lemma, "noun", features, {"sg": lemma, "pl": plural(lemma)})


def verb(lemma, frame, **features):
    past = f"{lemma}d" if lemma.endswith("e") else f"{lemma}ed"
    ing = f"{lemma[:-1]}ing" if lemma.endswith("e") else f"{lemma}ing"
    past = f"{lemma[:-1]}ied" if lemma.endswith("y") and lemma[-2] not in "aeiou" else past
    third = plural(lemma)
    forms = {"base": lemma, "s": third, "past": past, "participle": past, "ing": ing}
    forms |= {"present.sg": third, "present.pl": lemma, "past.sg": past, "past.pl": past}
    return Lexeme(f"{lemma}.verb.{frame}", lemma, "verb", {"frame": (frame,), **features}, forms)


def function_word(lemma, category, forms, **features):
    name = "-".join(value for values in features.values() for value in values)
    return Lexeme(f"{lemma}.{category}.{name}", lemma, category, features, forms)


@lru_cache(maxsize=1)
def small_lexicon():
    person = {"subject": ("person",)}
    rows = [noun(word, "role") for word in PEOPLE]
    rows += [noun(word, "role", gender=("f",)) for word in WOMEN]
    rows += [noun(word, "role", gender=("m",)) for word in MEN]
    rows += [noun(word, "tool") for word in TOOLS] + [noun(word, "document") for word in LETTERS]
    rows += [noun("goose", "animal", irregular=("plural",)), noun("hour", "abstract", sound=("vowel",))]
    rows += [verb(word, "tr", object=("thing",), **person) for word in TRANSITIVE]
    rows += [verb(word, "unerg", **person) for word in INTRANSITIVE]
    rows += [verb(word, "tr", object=("person",), reflexive=("natural",), **person) for word in REFLEXIVE]
    rows += [
        Lexeme(f"{word}.adj", word, "adj", {"of": ("thing",), "type": ("attributive",)}, {"base": word})
        for word in ADJECTIVES
    ]
    for gender, names in NAMES.items():
        features = {"class": ("person",), "gender": (gender,)}
        rows += [Lexeme(f"{name}.name", name, "name", features, {"sg": name}) for name in names]
    rows += [
        function_word("herself", "refl", {"base": "herself"}, gender=("f",), number=("sg",)),
        function_word("himself", "refl", {"base": "himself"}, gender=("m",), number=("sg",)),
        function_word("themselves", "refl", {"base": "themselves"}, gender=("none",), number=("pl",)),
        function_word("this", "det", {"sg": "this", "pl": "these"}, deixis=("near",)),
        function_word("that", "det", {"sg": "that", "pl": "those"}, deixis=("far",)),
        function_word("have", "aux", {"base": "have", "present.sg": "has", "present.pl": "have"}),
        function_word(
            "be", "aux", {"present.sg": "is", "present.pl": "are", "past.sg": "was", "past.pl": "were"}
        ),
    ]
    return Lexicon("en", rows, version="small")
