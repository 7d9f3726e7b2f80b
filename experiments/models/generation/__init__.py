"""Models of generated materials: own paradigms with their versions, own words, and sets of drawn pairs."""
