"""Leave only the bytecode of imported modules: `drop_sources.py FOLDER…`, after `import_all`.

Python imports `module.pyc` in place of `module.py`. Modules that have no bytecode keep their source.
Tracebacks name file and line, but do not show the line.
"""

import sys
from importlib.util import cache_from_source
from pathlib import Path


def drop_sources(folder: Path) -> None:
    """Move bytecode to where the sources are, and delete those."""
    for source in folder.rglob("*.py"):
        bytecode = Path(cache_from_source(str(source)))
        if bytecode.exists():
            bytecode.replace(source.with_suffix(".pyc"))
            source.unlink()
    for cache in folder.rglob("__pycache__"):
        if not any(cache.iterdir()):
            cache.rmdir()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        drop_sources(Path(name))
