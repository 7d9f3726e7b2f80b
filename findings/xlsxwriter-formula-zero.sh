#!/usr/bin/env bash
# XlsxWriter 3.3.1 computes nothing and stores 0 as the value of every formula: a reader of stored values
# (python-calamine 0.9.1, openpyxl 3.1.5) finds the rating 0 where Excel shows 6.
# Guess beforehand: no stored value, as openpyxl writes formulas.
# What follows: a 0 in a workbook that asks for a calculation on opening (fullCalcOnLoad) is refused with its cell.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet XlsxWriter==3.3.1 python-calamine==0.9.1 openpyxl==3.1.5 et-xmlfile==2.0.0
cd "$folder"; env/bin/python - <<'PY'
import openpyxl, python_calamine, xlsxwriter
with xlsxwriter.Workbook("ratings.xlsx") as book:
    sheet = book.add_worksheet()
    sheet.write("A1", "rating")
    sheet.write_formula("A2", "=3+3")
calamine = python_calamine.CalamineWorkbook.from_path("ratings.xlsx").get_sheet_by_index(0).to_python()
stored = openpyxl.load_workbook("ratings.xlsx", data_only=True).active["A2"].value
print("python-calamine:", calamine, "openpyxl:", stored)
assert calamine == [["rating"], [0.0]] and stored == 0
PY
