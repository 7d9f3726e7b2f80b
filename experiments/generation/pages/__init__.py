"""Pages of paradigms: the library, the editor, sets of drawn pairs, and their validation."""
