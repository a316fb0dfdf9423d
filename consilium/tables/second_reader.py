"""The second reader of workbooks, for those that openpyxl can't open: python-calamine, in a process of its own.

It copies what it reads to a plain workbook, which is then read as any other. The process has a limit to its memory,
because calamine asks at once for that of every cell up to the last one, and ends when it doesn't get it. It passes
over errors and formulas without a stored value without a word; so a workbook that holds either kind is refused.
"""

import io
import re
import resource
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import python_calamine
from python_calamine import SheetTypeEnum, SheetVisibleEnum

from consilium.tables.headings import column_letter
from consilium.tables.table import Refused
from consilium.tables.workbook_writing import cell_of, new_workbook, save
from consilium.tables.workbooks import damaged

MOST_MEMORY = 2_000_000_000
MOST_SECONDS = 120
_PASSED_OVER = re.compile(rb"""<(?:\w+:)?f[\s/>]|<(?:\w+:)?c\s[^>]*\bt\s*=\s*["']e["']""")
_CHUNK, _LONGEST_TAG = 1 << 18, 1 << 10


def plain_copy(binary: BinaryIO) -> BinaryIO:
    """Answer a plain workbook that holds the same values. Raises Refused when there is none."""
    if _holds_what_is_passed_over(binary):
        raise Refused("The workbook is of an unusual kind, and holds formulas or errors. Save it again as .xlsx.")
    command = [sys.executable, "-c", f"from {__name__} import main; main()"]
    root = Path(__file__).parents[2]
    binary.seek(0)
    try:
        done = subprocess.run(
            command, cwd=root, input=binary.read(), capture_output=True, timeout=MOST_SECONDS, check=True
        )
    except subprocess.SubprocessError:
        damaged("no reader can make anything of it")
    return io.BytesIO(done.stdout)


def _holds_what_is_passed_over(binary: BinaryIO) -> bool:
    with zipfile.ZipFile(binary) as archive:
        for name in archive.namelist():
            before = b""
            with archive.open(name) as part:
                while chunk := part.read(_CHUNK):
                    if _PASSED_OVER.search(before + chunk):
                        return True
                    before = chunk[-_LONGEST_TAG:]
    return False


def copy(data: bytes, to: BinaryIO) -> None:
    """Write every sheet of a workbook to a plain one: its values, its title, what is merged, whether it is hidden."""
    book = python_calamine.load_workbook(io.BytesIO(data))
    plain = new_workbook()
    for found in book.sheets_metadata:
        if found.typ == SheetTypeEnum.WorkSheet:
            sheet = book.get_sheet_by_name(found.name)
            new: Any = plain.create_sheet(found.name)
            new.sheet_state = "visible" if found.visible == SheetVisibleEnum.Visible else "hidden"
            for (top, left), (bottom, right) in sheet.merged_cell_ranges or []:
                new.merged_cells.add(f"{column_letter(left)}{top + 1}:{column_letter(right)}{bottom + 1}")
            for row in sheet.to_python(skip_empty_area=False):
                new.append([None if value == "" else cell_of(new, value) for value in row])
    save(plain, to)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    file = io.BytesIO()
    copy(sys.stdin.buffer.read(), file)
    sys.stdout.buffer.write(file.getvalue())
