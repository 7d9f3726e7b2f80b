"""Commands that need files only: options, documents and texts that `manage.py` and `obelus` share."""
