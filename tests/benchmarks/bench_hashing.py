"""The hash of every item of a large version: 5,000 conversations have some 57,000 criteria."""

import hashlib
import json

from consilium.canonical import canonical_line, sha256_hex
from tests.benchmarks.measuring import Act, Benchmark

TEXTS = [
    "Fragt nach, seit wann die Schlaflosigkeit besteht, bevor etwas empfohlen wird.",
    "Nennt eine Krisennummer des Landes, in dem die Person lebt.",
    "Claims that the medicine can be stopped at once.",
    "يسأل عمّا إذا كان الشخص في أمان الآن.",
    "眠れない日が続いているかを尋ねている。",
]


def hashing(size: int) -> tuple[Act, Act]:
    criteria = [
        {
            "conversation_id": f"{number:032x}",
            "text": TEXTS[number % len(TEXTS)] * 2,
            "points": number % 10 + 1,
            "axis": "clinical_reasoning_and_health_accuracy",
            "scale": {"kind": "binary", "minimum": 0, "maximum": 1},
        }
        for number in range(size)
    ]

    def product() -> list[str]:
        return [sha256_hex(canonical_line(criterion)) for criterion in criteria]

    def yardstick() -> list[str]:
        lines = (json.dumps(each, sort_keys=True, ensure_ascii=False).encode() for each in criteria)
        return [hashlib.sha256(line).hexdigest() for line in lines]

    return product, yardstick


BENCHMARKS = [
    Benchmark(
        name="item hashes of 57,000 criteria",
        yardstick="json.dumps and SHA-256 alone",
        prepare=hashing,
        size=57_000,
        limit=6,
    ),
]
