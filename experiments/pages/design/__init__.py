"""From items to lists: the design of a study, its rounds, its target, and what it leaves out."""
