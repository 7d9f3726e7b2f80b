"""The page of the lexicon: search by word and by conditions as paradigms write them."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from analysis.errors import BadInput
from experiments.generation.lexicon import Lexeme, Lexicon, languages
from experiments.generation.stored.word_lists import lexicon_for
from experiments.models import WordList
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import paginate

PER_PAGE = 50
MAX_LENGTH = 200


class LexiconSearch(forms.Form):
    """Search of a lexicon."""

    language = forms.ChoiceField(required=False)
    q = forms.CharField(label="Word or form", max_length=MAX_LENGTH, required=False)
    category = forms.ChoiceField(required=False)
    where = forms.CharField(
        label="Conditions",
        max_length=MAX_LENGTH,
        required=False,
        help_text="Such as frame=tr|pp !middle=yes",
    )

    def __init__(self, *args: object, lexicon: Lexicon, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        self.lexicon = lexicon
        language, category = self.fields["language"], self.fields["category"]
        language.choices = [(name, name) for name in languages()]  # type: ignore[attr-defined]
        category.choices = [  # type: ignore[attr-defined]
            ("", "every category"),
            *((name, name) for name in sorted(lexicon.by_category)),
        ]

    def rows(self) -> list[Lexeme]:
        """Return the lexemes that fit; a wrong condition becomes an error of its field."""
        if not self.is_valid():
            return []
        text = self.cleaned_data["q"].casefold()
        try:
            rows = self._select_lexemes(self.cleaned_data["category"], self.cleaned_data["where"])
        except BadInput as error:
            self.add_error("where", str(error))
            return []
        return [row for row in rows if not text or contains(row, text)]

    def _select_lexemes(self, category: str, conditions: str) -> tuple[Lexeme, ...]:
        if not conditions:
            return self.lexicon.by_category.get(category, ()) if category else self.lexicon.rows
        if not category:
            raise BadInput("conditions need a category.", remedy="Choose one.")
        return self.lexicon.select(category, parse_conditions(conditions))


def parse_conditions(text: str) -> dict[str, list[str]]:
    """Return conditions such as ``frame=tr|pp !middle=yes`` as a table of a paradigm.

    Examples
    --------
    >>> parse_conditions("frame=tr|pp !middle=yes")
    {'frame': ['tr', 'pp'], '!middle': ['yes']}
    """
    table: dict[str, list[str]] = {}
    for term in text.split():
        name, equals, values = term.partition("=")
        if not equals or not name or not values:
            raise BadInput(f"{term!r} is no condition.", remedy="Write column=value.")
        table[name] = values.split("|")
    return table


def contains(row: Lexeme, text: str) -> bool:
    """Return whether lemma or a form holds the text."""
    return any(text in form.casefold() for form in (row.lemma, *row.forms.values()))


def shown_features(lexicon: Lexicon, row: Lexeme) -> list[tuple[str, str]]:
    """Return what a row states beyond the defaults of its columns."""
    stated_features = []
    for name, values in row.features.items():
        stated = [value for value in values if not (name == "class" and value.startswith("="))]
        if name not in ("sound", "band") and stated and stated != [lexicon.columns[name].default]:
            stated_features.append((name, " ".join(stated)))
    return stated_features


@login_required
def lexicon_page(request: AuthenticatedRequest) -> HttpResponse:
    """Show the lexemes of a language that meet a search, the user's own among them."""
    language = request.GET.get("language", "en")
    lexicon = lexicon_for(request.user, language if language in languages() else "en")
    form = LexiconSearch({"language": lexicon.language, **request.GET.dict()}, lexicon=lexicon)
    page = paginate(request, form.rows(), most=PER_PAGE)
    context = {
        "section": "materials",
        "form": form,
        "lexicon": lexicon,
        "own": [
            (row, row.newest) for row in WordList.objects.visible_to(request.user).select_related("owner")
        ],
        "page_of": page,
        "rows": [(row, shown_features(lexicon, row), distinct_forms(row)) for row in page],
        "keep": urlencode(
            {name: str(value) for name, value in request.GET.items() if name != "page" and value}
        ),
    }
    return render(request, "experiments/materials_lexicon.html", context)


def distinct_forms(row: Lexeme) -> str:
    """Return the forms of a row once each, without the lemma."""
    return ", ".join(form for form in dict.fromkeys(row.forms.values()) if form != row.lemma)
