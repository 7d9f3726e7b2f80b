"""Tasks: what a participant is asked to do with a sentence, a pair or a set.

``base`` holds the interface :class:`~experiments.tasks.base.Task` and what tasks share, ``registry`` finds
tasks by name; every other module is one task.
"""
