"""The package around a spreadsheet's sheets: a zip archive of XML parts, opened with distrust.

Only stored and deflated parts are unpacked, within the limits; a document type (the door to entity bombs) is
refused; so is a single tag of more than 16 MB, over which the XML parser would take for ever.
"""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn
from xml.parsers import expat

from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format

from consilium.tables.table import Limits, Refused

_CHUNK = 1 << 18
_LONGEST_TAG = 1 << 24
_SMALL = 10_000_000
_MOST_PARTS = 10_000
_DAMAGED = "The spreadsheet is damaged: {what}. Open it in a spreadsheet program and save it again as .xlsx."
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_EAST_ASIAN_DATES = {*range(27, 37), *range(50, 59)}


class XmlEvents:
    """What happens in an XML part. Names come without prefix, so that the strict dialect reads the same."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """A tag opened."""

    def end(self, name: str) -> None:
        """A tag closed."""

    def text(self, data: str) -> None:
        """Characters between tags."""


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A sheet as the workbook lists it."""

    title: str
    part: str
    is_hidden: bool


@dataclass
class Workbook:
    """What all sheets share."""

    sheets: list[SheetPart] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    date_styles: set[int] = field(default_factory=set)
    duration_styles: set[int] = field(default_factory=set)
    counts_from_1904: bool = False


class Package:
    """The open archive: its parts by name, in any letter case."""

    def __init__(self, archive: zipfile.ZipFile, *, limits: Limits) -> None:
        self._archive = archive
        self._parts: dict[str, zipfile.ZipInfo] = {}
        entries = archive.infolist()
        if len(entries) > _MOST_PARTS:
            raise Refused(f"The spreadsheet is made of more than {_MOST_PARTS:,} parts.")
        for entry in entries:
            name = _part_name(entry.filename)
            if name in self._parts:
                damaged("one of its parts is there twice")
            if entry.header_offset < 0:
                damaged("one of its parts is nowhere")
            self._parts[name] = entry
        _check_expansion(entries, limits=limits)

    def __contains__(self, part: str) -> bool:
        return _part_name(part) in self._parts

    def parse(self, part: str, events: XmlEvents) -> Iterator[None]:
        """Unpack and parse a part, pausing after each chunk so that what was found can be taken."""
        entry = self._parts.get(_part_name(part))
        if entry is None:
            damaged(f"its part {part} is missing")
        if entry.flag_bits & 1:
            raise Refused("The spreadsheet is protected by a password. Save it without one.")
        parser = _parser(events)
        unpacked = 0
        try:
            with self._archive.open(entry) as stream:
                while chunk := stream.read(_CHUNK):
                    parser.Parse(chunk, False)
                    unpacked += len(chunk)
                    if unpacked - parser.CurrentByteIndex > _LONGEST_TAG:
                        damaged("it holds a tag without end")
                    yield
                parser.Parse(b"", True)
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
            damaged("it can't be unpacked")
        except expat.ExpatError:
            damaged(f"its part {part} is not well-formed")

    def parse_whole(self, part: str, events: XmlEvents) -> None:
        for _ in self.parse(part, events):
            continue


@contextmanager
def opened_package(binary: BinaryIO, *, limits: Limits) -> Iterator[Package]:
    """Open a zip archive. Raises Refused when it is damaged or unpacks to too much."""
    try:
        archive = zipfile.ZipFile(binary)
    except (zipfile.BadZipFile, NotImplementedError):
        damaged("it is cut off or not a whole zip archive")
    with archive:
        yield Package(archive, limits=limits)


def read_workbook(package: Package, *, limits: Limits) -> Workbook:
    """Read the list of sheets, the shared texts, and which styles show numbers as dates."""
    main = _main_part(package)
    parts = _Relations.of(package, main)
    listing = _Listing()
    package.parse_whole(main, listing)
    workbook = Workbook(counts_from_1904=listing.counts_from_1904)
    for title, relation, is_hidden in listing.sheets:
        kind, part = parts.targets.get(relation, ("", ""))
        if kind == "worksheet":
            workbook.sheets.append(SheetPart(title, part, is_hidden))
    for kind, part in parts.targets.values():
        if kind == "sharedStrings" and part in package:
            shared = SharedTexts(limits=limits)
            package.parse_whole(part, shared)
            workbook.texts = shared.texts
        elif kind == "styles" and part in package:
            styles = _Styles()
            package.parse_whole(part, styles)
            workbook.date_styles, workbook.duration_styles = styles.dates, styles.durations
    return workbook


def damaged(what: str) -> NoReturn:
    raise Refused(_DAMAGED.format(what=what))


def whole_number(digits: str) -> int:
    """Answer the number that an attribute holds."""
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        damaged("a number in it is none")
    return int(digits)


def unescaped(text: str) -> str:
    """Answer a text with its `_xHHHH_` turned into the characters that XML can't hold."""
    if "_x" not in text:
        return text
    plain = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class SharedTexts(XmlEvents):
    """The texts that cells point at: runs of rich text joined, reading aids of East Asian texts left out."""

    def __init__(self, *, limits: Limits) -> None:
        self.texts: list[str] = []
        self._most = limits.shared_characters
        self._count = 0
        self._parts: list[str] = []
        self._collecting = False
        self._in_reading_aid = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "rPh":
            self._in_reading_aid = True
        elif name == "t":
            self._collecting = not self._in_reading_aid

    def text(self, data: str) -> None:
        if self._collecting:
            self._parts.append(data)

    def end(self, name: str) -> None:
        if name == "t":
            self._collecting = False
        elif name == "rPh":
            self._in_reading_aid = False
        elif name == "si":
            text = unescaped("".join(self._parts))
            self._parts.clear()
            self._count += len(text)
            if self._count > self._most:
                raise Refused(f"The spreadsheet holds more than {self._most:,} characters of text.")
            self.texts.append(text)


class _Relations(XmlEvents):
    """Which part points at which others, and as what."""

    def __init__(self, part: str) -> None:
        self._folder = posixpath.dirname(part)
        self.targets: dict[str, tuple[str, str]] = {}

    @classmethod
    def of(cls, package: Package, part: str) -> "_Relations":
        folder, name = posixpath.split(part)
        relations = cls(part)
        file = posixpath.join(folder, "_rels", f"{name}.rels")
        if file in package:
            package.parse_whole(file, relations)
        return relations

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            kind = attributes.get("Type", "").rpartition("/")[2]
            target = posixpath.normpath(posixpath.join("/", self._folder, attributes.get("Target", "")))
            self.targets[attributes.get("Id", "")] = kind, target.lstrip("/")


class _Listing(XmlEvents):
    """The workbook's list of its sheets."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str, bool]] = []
        self.counts_from_1904 = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "workbookPr":
            self.counts_from_1904 = attributes.get("date1904") in ("1", "true")
        elif name == "sheet":
            relation = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            is_hidden = attributes.get("state", "visible") != "visible"
            self.sheets.append((attributes.get("name", ""), relation, is_hidden))


class _Styles(XmlEvents):
    """Which cell styles show a number as a date, a time, or a duration."""

    def __init__(self) -> None:
        self.dates: set[int] = set()
        self.durations: set[int] = set()
        self._formats: dict[str, str] = {str(number): code for number, code in BUILTIN_FORMATS.items()}
        self._formats.update((str(number), "yyyy-mm-dd") for number in _EAST_ASIAN_DATES)
        self._in_cell_styles = False
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "numFmt":
            self._formats.setdefault(attributes.get("numFmtId", ""), attributes.get("formatCode", ""))
        elif name == "cellXfs":
            self._in_cell_styles = True
        elif name == "xf" and self._in_cell_styles:
            code = self._formats.get(attributes.get("numFmtId", "0"), "General")
            if is_timedelta_format(code):
                self.durations.add(self._count)
            elif is_date_format(code):
                self.dates.add(self._count)
            self._count += 1

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._in_cell_styles = False


def _main_part(package: Package) -> str:
    relations = _Relations.of(package, "")
    main = next((part for kind, part in relations.targets.values() if kind == "officeDocument"), "")
    if main.endswith(".xml") and main in package and posixpath.basename(main) != "document.xml":
        return main
    if main.endswith(".bin"):
        raise Refused("This is a binary workbook (.xlsb). Save it as .xlsx.")
    if "mimetype" in package and "content.xml" in package:
        raise Refused("This is an OpenDocument file. Save it as .xlsx.")
    raise Refused("This is a zip archive, but no .xlsx workbook.")


def _parser(events: XmlEvents) -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    start, end = events.start, events.end
    parser.StartElementHandler = lambda name, attributes: start(name.rpartition(":")[2], attributes)
    parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
    parser.CharacterDataHandler = events.text
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.XmlDeclHandler = _refuse_other_encodings
    return parser


def _refuse_document_type(*declaration: object) -> None:
    damaged("it declares a document type, which no spreadsheet needs")


def _refuse_other_encodings(version: str, encoding: str | None, standalone: int) -> None:
    if encoding and encoding.lower() not in ("utf-8", "utf8", "utf-16", "us-ascii"):
        damaged("one of its parts is not in UTF-8")


def _part_name(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _check_expansion(entries: list[zipfile.ZipInfo], *, limits: Limits) -> None:
    expanded = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if expanded > limits.expanded_bytes:
        raise Refused(f"The spreadsheet unpacks to more than {limits.expanded_bytes // 1_000_000:,} MB.")
    if expanded > _SMALL and expanded > limits.expansion * max(packed, 1):
        raise Refused(f"The spreadsheet unpacks to more than {limits.expansion} times its size.")
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        damaged("it is packed in a way that no spreadsheet uses")
