"""Digests of a rubric version: what they are taken over, so that a stranger can recompute them from an export.

The hash of an item is the lower-case hex SHA-256 of its canonical line (consilium.canonical). The ``digest`` of a
version is the SHA-256 over the sorted hashes of its conversations and criteria, joined by LF; the ``record_digest``
is made likewise of the digest and the hashes of the votes, the policy and the note. The lines' keys stand here, and
for readers in docs/digests.md. Nothing here reads a database.

The lines of criteria and votes, of which a freeze hashes hundreds of thousands, are put together here, key by key in
their order, and are byte for byte those of consilium.canonical.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from json.encoder import encode_basestring

from consilium.canonical import canonical_line, normal_text, sha256_hex

LENGTH_OF_A_CRITERION_NAME = 16
"""Hex digits of its item hash by which a criterion of an external version is named."""


def conversation_sha256(*, conversation_id: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Answer the hash of a conversation: its id and, of each message, the role and the content."""
    return _sha256(
        {
            "id": conversation_id,
            "messages": [{"role": message["role"], "content": message["content"]} for message in messages],
        }
    )


def criterion_sha256(
    *,
    conversation_id: str,
    text: str,
    points: int,
    axis: str,
    scale: str,
    levels: object = None,
) -> str:
    """Answer the hash of a criterion. ``points`` are those that count: the panel's consensus points, or the file's.

    ``scale`` is its name (binary) or, where it has levels, an object of its name and its levels: two rubrics that
    differ in what a level means are not the same.
    """
    shown = _quoted(scale) if levels is None else canonical_line({"name": scale, "levels": levels}).decode()
    line = (
        f'{{"axis":{_quoted(axis)},"conversation_id":{_quoted(conversation_id)},"points":{points:d},'
        f'"scale":{shown},"text":{_quoted(text)}}}'
    )
    return sha256_hex(line.encode())


def vote_sha256(
    *,
    criterion: str,
    person: str,
    choice: str,
    points: int | None,
    category: str,
    reason: str,
    round_number: int,
) -> str:
    """Answer the hash of a vote that carried a criterion: ``criterion`` is that item's hash, ``person`` an id."""
    weight = "null" if points is None else f"{points:d}"
    line = (
        f'{{"category":{_quoted(category)},"choice":{_quoted(choice)},"criterion":{_quoted(criterion)},'
        f'"person":{_quoted(person)},"points":{weight},"reason":{_quoted(reason)},"round":{round_number:d}}}'
    )
    return sha256_hex(line.encode())


def policy_facts(
    *,
    version: int,
    min_reviewed: int,
    min_agree: int,
    min_ratio: Decimal,
    points_tolerance: int,
    blocks: Iterable[str],
    max_rounds: int,
    reviewers_per_conversation: int,
    drafting: str,
    weights: str,
    names_shown_after_reveal: bool,
) -> dict[str, object]:
    """Answer a policy as its line holds it: whole numbers, the ratio as text with three places, blocks sorted."""
    return {
        "version": version,
        "min_reviewed": min_reviewed,
        "min_agree": min_agree,
        "min_ratio": f"{min_ratio:.3f}",
        "points_tolerance": points_tolerance,
        "blocks": sorted(blocks),
        "max_rounds": max_rounds,
        "reviewers_per_conversation": reviewers_per_conversation,
        "drafting": drafting,
        "weights": weights,
        "names_shown_after_reveal": names_shown_after_reveal,
    }


def policy_sha256(facts: Mapping[str, object] | None) -> str:
    """Answer the hash of a policy (``policy_facts``); None, of an external version, is the line ``null``."""
    return _sha256(None if facts is None else dict(facts))


def note_sha256(note: str) -> str:
    """Answer the hash of a version's note, a text; one without words is the line of two quotation marks."""
    return _sha256(note)


def digest_of(item_hashes: Iterable[str]) -> str:
    """Answer the digest of a version: over the hashes of all its conversations and criteria, in any order."""
    return sha256_hex("\n".join(sorted(item_hashes)).encode("ascii"))


def record_digest_of(*, digest: str, votes: Iterable[str], policy: str, note: str) -> str:
    """Answer the digest of the whole record, from the digest and the hashes of votes, policy and note."""
    return digest_of([digest, policy, note, *votes])


def _quoted(text: str) -> str:
    """A text as it stands in a canonical line. ASCII without CR is normal as it is."""
    return encode_basestring(text if text.isascii() and "\r" not in text else normal_text(text))


def _sha256(value: object) -> str:
    return sha256_hex(canonical_line(value))
