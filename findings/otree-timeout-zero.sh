#!/usr/bin/env bash
# A page of oTree 6.0.15 whose time runs out stores answers that nobody gave: 0 for a rating from 1 to 7, although the
# field has min=1, and False for a question answered by yes or no. The export writes 0 for both, as for a "no".
# Guess beforehand: the fields stay empty (None), as before the page.
# What follows: a rare 0 below 1 to 7 is asked about; for yes and no the study has to store timeout_happened in a field.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet otree==6.0.15 requests==2.32.5
mkdir -p "$folder/p/rate" "$folder/p/_static" "$folder/p/_templates"; cd "$folder/p"
cat >settings.py <<'PYTHON'
SESSION_CONFIGS = [dict(name="rate", app_sequence=["rate"], num_demo_participants=1)]
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1, participation_fee=0)
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "USD", True
SECRET_KEY, ADMIN_USERNAME, PARTICIPANT_FIELDS, SESSION_FIELDS = "x", "admin", [], []
PYTHON
cat >rate/__init__.py <<'PYTHON'
from otree.api import *
class C(BaseConstants):
    NAME_IN_URL, PLAYERS_PER_GROUP, NUM_ROUNDS = "rate", None, 1
class Subsession(BaseSubsession):
    pass
class Group(BaseGroup):
    pass
class Player(BasePlayer):
    rating = models.IntegerField(min=1, max=7)
    natural = models.BooleanField()
class Rate(Page):
    form_model, form_fields, timeout_seconds = "player", ["rating", "natural"], 5
page_sequence = [Rate]
PYTHON
echo '{{ block content }}{{ formfields }}{{ next_button }}{{ endblock }}' >rate/Rate.html
cat >rate/tests.py <<'PYTHON'
from otree.api import *
from . import *
class PlayerBot(Bot):
    def play_round(self):
        yield Submission(Rate, {}, timeout_happened=True)
PYTHON
"$folder/v/bin/otree" test rate 1 --export=out >/dev/null 2>&1
"$folder/v/bin/python" - <<'PYTHON'
import csv
row = next(csv.DictReader(open("out/rate.csv")))
seen = {name: row[f"player.{name}"] for name in ("rating", "natural")}
print("otree 6.0.15, after the time ran out:", seen)
assert seen == {"rating": "0", "natural": "0"}, seen
PYTHON
