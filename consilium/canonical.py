"""The canonical line: the bytes that a digest is taken over; a stranger can recompute it from an export.

A canonical line is UTF-8 JSON with keys in the order of their code points, the separators `,` and `:`, no
ASCII escapes, no newline; every string (keys too) is in NFC, with CR LF and CR as LF. JSON's own escapes are
the short ones (`\\"`, `\\\\`, `\\b`, `\\f`, `\\n`, `\\t`) and lower-case `\\u00xx` for the other characters
below U+0020; nothing else is escaped. Floats are refused, because languages print them differently.
"""

import hashlib
import json
import unicodedata


def canonical_line(value: object) -> bytes:
    """Answer the canonical line of a value made of dict, list, str, int, bool and None.

    Raises TypeError for any other type (a float, a tuple, a key that is no text), ValueError for a text that
    UTF-8 can't hold (a lone surrogate) and for two keys of one object that are the same in NFC.
    """
    text = json.dumps(_normal(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


def sha256_hex(data: bytes) -> str:
    """Answer the SHA-256 of the bytes as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def normal_text(text: str) -> str:
    """Answer the text as digests and comparisons see it: NFC, with CR LF and CR as LF."""
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")


def _normal(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return normal_text(value)
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if isinstance(value, dict):
        return _normal_object(value)
    raise TypeError(f"A canonical line holds no {type(value).__name__}.")


def _normal_object(value: dict[object, object]) -> dict[str, object]:
    normal: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"A key of a canonical line is text, not {type(key).__name__}.")
        name = normal_text(key)
        if name in normal:
            raise ValueError(f"The key “{name}” stands twice in one object, once it is in NFC.")
        normal[name] = _normal(item)
    return normal
