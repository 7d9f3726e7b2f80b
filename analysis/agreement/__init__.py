"""How far people agree with the expected labels, and with each other."""
