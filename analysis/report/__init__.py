"""The study report: its numbers from a gold release, its sentences, sections and Typst source."""
