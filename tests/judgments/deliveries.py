"""What an engine sends and asks for, as the tests send it: the plan of a session and its answers."""

import json

from django.test import Client

from tests.cast import answer_to


def address(session, end="judgments"):
    return f"/api/v1/sessions/{session.token}/{end}/"


def send(session, *rows, client=None, **more):
    body = json.dumps({"judgments": list(rows), **more})
    return (client or Client()).post(address(session), body, content_type="application/json")


def row(trial, **fields):
    return {"trial": trial.public_id, "response": answer_to(trial), **fields}


def plan(session):
    return Client().get(address(session, "plan"))
