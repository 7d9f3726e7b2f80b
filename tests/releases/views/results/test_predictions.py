"""Predictions of others' answers in an imported file, on the page of items."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from tests import cast

pytestmark = pytest.mark.django_db


def test_a_column_of_predictions_is_reported_on_page_and_by_command(client, tmp_path, capsys):
    lines = ["participant,item,condition,sentence,expected,value,predicted_yes"]
    lines += [
        f"p{person},i{item},a,The boat sank {item}.,acceptable,{int(person < 4)},{30 if person < 4 else 20}"
        for person in range(6)
        for item in range(2)
    ]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(lines) + "\n")
    user = cast.ada()
    call_command(
        "import_judgments", path, "--experiment", "Others", "--format", "table", "--task", "yes_no",
        "--owner", user.username,
    )  # fmt: skip
    capsys.readouterr()
    call_command("items", "others", "--json")
    rows = json.loads(capsys.readouterr().out)["predictions"]["items"]
    assert [(row["n"], row["label"], row["contradicts"]) for row in rows] == [(6, "1", False)] * 2
    assert rows[0]["surprise"] == pytest.approx(4 / 6 - (4 * 0.3 + 2 * 0.2) / 6)
    client.force_login(user)
    page = client.get(reverse("study-items", args=["others"])).content.decode()
    assert "Predictions of others" in page and "Surprisingly popular" in page
