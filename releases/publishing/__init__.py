"""Publishing of frozen releases on Hugging Face, Zenodo and OSF, or in a folder."""
