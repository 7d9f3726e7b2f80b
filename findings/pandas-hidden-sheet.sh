#!/usr/bin/env bash
# pandas 3.1.1 (read_excel, both engines) reads rows that a filter hides, and hidden sheets by name or position, without
# a word: participants whom a researcher filtered out in Excel come back.
# Guess beforehand: hidden rows are read, and a hidden first sheet is skipped for the first one that is shown.
# What follows: hidden sheets are never read unless chosen, and hidden rows and columns are counted in a note.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pandas==3.1.1 numpy==2.4.6 openpyxl==3.1.5 et-xmlfile==2.0.0 python-calamine==0.9.1
cd "$folder"; env/bin/python - <<'PY'
import openpyxl, pandas as pd
book = openpyxl.Workbook()
old, new = book.active, book.create_sheet("new")
old.sheet_state = "hidden"
for sheet, rating in ((old, 1), (new, 6)):
    for row in (["participant", "rating"], ["p1", rating], ["p2", rating]):
        sheet.append(row)
    sheet.row_dimensions[3].hidden = True
book.active = 1
book.save("ratings.xlsx")
for engine in ("openpyxl", "calamine"):
    frame = pd.read_excel("ratings.xlsx", engine=engine)
    print(engine, frame.to_dict("list"))
    assert frame.to_dict("list") == {"participant": ["p1", "p2"], "rating": [1, 1]}
PY
