"""Materials: generation, import and character sets."""
