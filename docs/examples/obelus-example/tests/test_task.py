import pytest
from numpy.random import default_rng

from analysis.plugins.registry import Plugin
from experiments.tasks.base import BadResponse
from experiments.tasks.registry import TASKS
from obelus_example.task import ExampleTask


def test_the_task_is_accepted_and_parses_its_answers():
    target = "obelus_example.task:ExampleTask"
    task = TASKS.adopt(Plugin("tasks", "example", "obelus-example", "0.1.0", target, ExampleTask))
    settings = task.settings({})
    assert task.parse("up", settings, options=()).value == 1.0
    with pytest.raises(BadResponse):
        task.parse("sideways", settings, options=())


def test_simulated_participants_prefer_what_is_acceptable():
    task, rng = ExampleTask(), default_rng(1)
    answers = [
        task.simulate(rng, task.settings({}), options=(), acceptability=3.0, profile="honest")
        for _ in range(50)
    ]
    assert answers.count("up") > 40
