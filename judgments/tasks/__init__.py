"""Tasks: what a participant is asked to do with a sentence or a pair. One file each."""
