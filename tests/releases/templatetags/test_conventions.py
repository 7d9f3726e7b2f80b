"""How each model was scored is listed under a comparison; conventions that all share once."""

from django.template.loader import render_to_string

from releases.templatetags.reporting import by_model

LP = {"model": "arpa:x.arpa", "end": "scored", "measure": "lp: log p", "vocabulary": "–"}
SLOR = {**LP, "measure": "slor: (log p - log p of single tokens) / tokens"}
TABLE = {"model": "csv:x.csv", "measure": "lp: log p", "end": "not recorded", "casing": "not recorded"}


def records(**conventions):
    return [{"model": name, "conventions": row} for name, row in conventions.items()]


def test_shared_conventions_are_shown_once_in_one_order():
    conventions = by_model(records(lp=LP, slor=dict(reversed(SLOR.items()))))
    assert conventions.shared.pairs == [("model", "arpa:x.arpa"), ("end", "scored")]
    assert [(models, shared.pairs) for models, shared in conventions.by_conventions] == [
        (["lp"], [("measure", LP["measure"])]),
        (["slor"], [("measure", SLOR["measure"])]),
    ]


def test_a_single_model_has_no_shared_conventions():
    conventions = by_model(records(lp=LP))
    assert conventions.shared.pairs == [] and conventions.by_conventions[0][1].pairs[0] == (
        "model",
        "arpa:x.arpa",
    )


def test_models_scored_alike_are_listed_under_one_heading():
    conventions = by_model(records(one=TABLE, two=TABLE, lp=LP))
    assert [models for models, _ in conventions.by_conventions] == [["one", "two"], ["lp"]]
    assert conventions.by_conventions[0][1].not_recorded == ["end", "casing"]


def test_every_convention_of_every_model_is_on_the_page():
    scoring = records(lp=LP, slor=SLOR, table=TABLE)
    page = render_to_string("releases/_scoring_conventions.html", {"scoring": scoring})
    for record in scoring:
        for name, text in record["conventions"].items():
            assert text == "–" or name in page and text in page
    assert f"<dt>measure</dt><dd>{SLOR['measure']}</dd>" in page
    assert "vocabulary" not in page
