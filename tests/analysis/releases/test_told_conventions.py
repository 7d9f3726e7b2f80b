"""Under a comparison stands how each model was scored; what all share stands once."""

from django.template.loader import render_to_string

from analysis.releases.templatetags.conventions import apart

LP = {"model": "arpa:x.arpa", "end": "scored", "measure": "lp: log p", "vocabulary": "–"}
SLOR = {**LP, "measure": "slor: (log p - log p of single tokens) / tokens"}
TABLE = {"model": "csv:x.csv", "measure": "lp: log p", "end": "not recorded", "casing": "not recorded"}


def records(**told):
    return [{"model": name, "conventions": one} for name, one in told.items()]


def test_what_all_models_share_is_told_once_in_one_order():
    told = apart(records(lp=LP, slor=dict(reversed(SLOR.items()))))
    assert told.shared.pairs == [("model", "arpa:x.arpa"), ("end", "scored")]
    assert [(models, own.pairs) for models, own in told.own] == [
        (["lp"], [("measure", LP["measure"])]),
        (["slor"], [("measure", SLOR["measure"])]),
    ]


def test_a_single_model_shares_with_nobody():
    told = apart(records(lp=LP))
    assert told.shared.pairs == [] and told.own[0][1].pairs[0] == ("model", "arpa:x.arpa")


def test_models_scored_alike_stand_under_one_heading():
    told = apart(records(one=TABLE, two=TABLE, lp=LP))
    assert [models for models, _ in told.own] == [["one", "two"], ["lp"]]
    assert told.own[0][1].lacking == ["end", "casing"]


def test_every_convention_of_every_model_is_on_the_page():
    given = records(lp=LP, slor=SLOR, table=TABLE)
    page = render_to_string("releases/_scoring_conventions.html", {"scoring": given})
    for one in given:
        for name, text in one["conventions"].items():
            assert text == "–" or name in page and text in page
    assert f"<dt>measure</dt><dd>{SLOR['measure']}</dd>" in page
    assert "vocabulary" not in page
