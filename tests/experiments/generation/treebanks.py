"""Small treebanks: subjects with verbs in every combination, in Russian and in Hebrew."""

from itertools import product

# Surface, lemma, features, distinct values of number and gender as the subject has them.
RUSSIAN_SUBJECTS = [
    ("Девочка", "девочка", "Case=Nom|Gender=Fem|Number=Sing"),
    ("Девочки", "девочка", "Case=Nom|Gender=Fem|Number=Plur"),
    ("Мальчик", "мальчик", "Case=Nom|Gender=Masc|Number=Sing"),
    ("Мальчики", "мальчик", "Case=Nom|Gender=Masc|Number=Plur"),
]
RUSSIAN_VERBS = {
    "читать": ("читал", "читала", "читало", "читали", "читает", "читают"),
    "писать": ("писал", "писала", "писало", "писали", "пишет", "пишут"),
    "рисовать": ("рисовал", "рисовала", "рисовало", "рисовали", "рисует", "рисуют"),
}
RUSSIAN_TAGS = (
    "V;PST;SG;MASC", "V;PST;SG;FEM", "V;PST;SG;NEUT", "V;PST;PL", "V;PRS;3;SG", "V;PRS;3;PL",
)  # fmt: skip
HEBREW_SUBJECTS = [
    ("ילדה", "ילדה", "Gender=Fem|Number=Sing"),
    ("ילד", "ילד", "Gender=Masc|Number=Sing"),
    ("ילדות", "ילדה", "Gender=Fem|Number=Plur"),
    ("ילדים", "ילד", "Gender=Masc|Number=Plur"),
]
HEBREW_VERBS = {
    "הלך": ("הָלַךְ", "הָלְכָה", "הָלְכוּ"),
    "שמר": ("שָׁמַר", "שָׁמְרָה", "שָׁמְרוּ"),
    "כתב": ("כָּתַב", "כָּתְבָה", "כָּתְבוּ"),
}


def word(number, form, lemma, upos, feats, head, deprel, misc="_"):
    """Return one line of CoNLL-U."""
    return "\t".join([str(number), form, lemma, upos, "_", feats, str(head), deprel, "_", misc])


def treebank(sentences):
    """Return sentences (id, text, lines) as CoNLL-U."""
    return "".join(
        "\n".join([f"# sent_id = {name}", f"# text = {text}", *lines]) + "\n\n"
        for name, text, lines in sentences
    )


def russian():
    """Return a treebank in which past verbs show gender in the singular only."""
    sentences = []
    for (form, lemma, feats), (verb, forms), tense in product(
        RUSSIAN_SUBJECTS, RUSSIAN_VERBS.items(), ("Past", "Pres")
    ):
        is_plural, is_feminine = "Plur" in feats, "Fem" in feats
        number = "Plur" if is_plural else "Sing"
        gender = "" if is_plural or tense == "Pres" else f"Gender={'Fem' if is_feminine else 'Masc'}|"
        person = "|Person=3" if tense == "Pres" else ""
        shown = (forms[3] if is_plural else forms[is_feminine]) if tense == "Past" else forms[4 + is_plural]
        bundle = f"{gender}Mood=Ind|Number={number}{person}|Tense={tense}|VerbForm=Fin"
        place = len(sentences)
        lines = [
            word(1, form, lemma, "NOUN", feats, 2, "nsubj"),
            word(2, shown, verb, "VERB", bundle, 0, "root"),
            word(3, "письмо", "письмо", "NOUN", "Case=Acc|Number=Sing", 2, "obj", "SpaceAfter=No"),
            word(4, ".", ".", "PUNCT", "_", 2, "punct"),
        ]
        sentences.append((f"ru-{place}", f"{form} {shown} письмо.", lines))
    return treebank(sentences)


def russian_table():
    """Return UniMorph's rows of the verbs."""
    return "".join(
        f"{lemma}\t{form}\t{tags}\n"
        for lemma, forms in RUSSIAN_VERBS.items()
        for form, tags in zip(forms, RUSSIAN_TAGS, strict=True)
    )


def hebrew():
    """Return a treebank without vowel points, with the article in multiword tokens and an empty node."""
    sentences = []
    for (form, lemma, feats), (verb, forms) in product(HEBREW_SUBJECTS, HEBREW_VERBS.items()):
        is_plural = "Plur" in feats
        shown = bare(forms[2] if is_plural else forms["Fem" in feats])
        gender = "" if is_plural else f"Gender={'Fem' if 'Fem' in feats else 'Masc'}|"
        bundle = f"{gender}Number={'Plur' if is_plural else 'Sing'}|Person=3|Tense=Past"
        lines = [
            word("1-2", f"ה{form}", "_", "_", "_", "_", "_"),
            word(1, "ה", "ה", "DET", "_", 2, "det"),
            word(2, form, lemma, "NOUN", feats, 3, "nsubj"),
            word(3, shown, verb, "VERB", bundle, 0, "root"),
            word("3.1", shown, verb, "VERB", bundle, "_", "_"),
            word("4-5", "הביתה", "_", "_", "_", "_", "_", "SpaceAfter=No"),
            word(4, "הבית", "בית", "NOUN", "Gender=Masc|Number=Sing", 3, "obl"),
            word(5, "ה", "ה", "PART", "_", 4, "case"),
            word(6, ".", ".", "PUNCT", "_", 3, "punct"),
        ]
        sentences.append((f"he-{len(sentences)}", f"ה{form} {shown} הביתה.", lines))
    return treebank(sentences)


def hebrew_table():
    """Return rows with vowel points and UD features under a header."""
    bundles = (
        "VERB|Gender=Masc|Number=Sing|Person=3|Tense=Past",
        "VERB|Gender=Fem|Number=Sing|Person=3|Tense=Past",
        "VERB|Number=Plur|Person=3|Tense=Past",
    )
    rows = [
        f"{form}\t{lemma}\t{bundle}\n"
        for lemma, forms in HEBREW_VERBS.items()
        for form, bundle in zip(forms, bundles, strict=True)
    ]
    return "form\tlemma\tfeats\n" + "".join(rows)


def bare(form):
    """Return Hebrew without its points."""
    return "".join(character for character in form if not "\u0591" <= character <= "\u05c7")
