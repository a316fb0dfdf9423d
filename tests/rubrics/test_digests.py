"""The digests' lines, against hashes computed by hand from the lines that docs/digests.md describes."""

import hashlib
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from consilium.canonical import canonical_line
from rubrics import digests

FACTS = {
    "version": 1,
    "min_reviewed": 3,
    "min_agree": 3,
    "min_ratio": Decimal("0.75"),
    "points_tolerance": 2,
    "blocks": ["unsafe", "clinically_wrong"],
    "max_rounds": 3,
    "reviewers_per_conversation": 5,
    "drafting": "alone",
    "weights": "own",
    "names_shown_after_reveal": False,
}


def sha(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()


def criterion(**facts: object) -> str:
    return digests.criterion_sha256(
        **{  # type: ignore[arg-type]
            "conversation_id": "c1",
            "text": "Fragt nach dem Schlaf.",
            "points": -6,
            "axis": "",
            "scale": "binary",
            **facts,
        }
    )


def test_a_conversations_line_holds_its_id_and_of_each_message_the_role_and_the_content() -> None:
    messages = [{"role": "user", "content": "Ich\r\nschlafe nicht.", "name": "left out"}]
    line = '{"id":"c1","messages":[{"content":"Ich\\nschlafe nicht.","role":"user"}]}'
    assert digests.conversation_sha256(conversation_id="c1", messages=messages) == sha(line)


def test_a_criterions_line_holds_conversation_text_points_axis_and_scale() -> None:
    line = '{"axis":"","conversation_id":"c1","points":-6,"scale":"binary","text":"Fragt nach dem Schlaf."}'
    assert criterion() == sha(line)


def test_each_fact_of_a_criterion_moves_its_hash() -> None:
    others = [
        criterion(conversation_id="c2"),
        criterion(text="Fragt nach dem schlaf."),
        criterion(points=6),
        criterion(axis="accuracy"),
        criterion(scale="ordinal", levels=[{"value": 0, "description": "none"}]),
        criterion(scale="ordinal", levels=[{"value": 0, "description": "weak"}]),
    ]
    assert len({criterion(), *others}) == 7


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    assert criterion(text="Müdigkeit") == criterion(text="Mu\u0308digkeit")


def test_a_votes_line_names_the_person_by_an_id_and_binds_the_vote_to_its_criterion() -> None:
    line = (
        '{"category":"unsafe","choice":"object","criterion":"' + "a" * 64 + '","person":"p1","points":null,'
        '"reason":"Delays help.","round":2}'
    )
    facts = {"person": "p1", "choice": "object", "points": None, "category": "unsafe", "reason": "Delays help."}
    assert digests.vote_sha256(criterion="a" * 64, round_number=2, **facts) == sha(line)  # type: ignore[arg-type]


def test_a_policys_line_holds_its_numbers_and_no_float() -> None:
    line = (
        '{"blocks":["clinically_wrong","unsafe"],"drafting":"alone","max_rounds":3,"min_agree":3,"min_ratio":"0.750",'
        '"min_reviewed":3,"names_shown_after_reveal":false,"points_tolerance":2,"reviewers_per_conversation":5,'
        '"version":1,"weights":"own"}'
    )
    assert digests.policy_sha256(digests.policy_facts(**FACTS)) == sha(line)  # type: ignore[arg-type]
    stored = digests.policy_facts(**{**FACTS, "min_ratio": Decimal("0.750")})  # type: ignore[arg-type]
    assert digests.policy_sha256(stored) == sha(line)
    assert digests.policy_sha256(None) == sha("null")


def test_a_notes_line_is_the_note_itself() -> None:
    assert digests.note_sha256('For the "pilot".') == sha('"For the \\"pilot\\"."')
    assert digests.note_sha256("") == sha('""')


def test_the_digest_is_over_the_sorted_hashes_with_lf_between_them() -> None:
    one, two, three = sha("1"), sha("2"), sha("3")
    expected = sha("\n".join(sorted([one, two, three])))
    assert digests.digest_of([three, one, two]) == digests.digest_of([one, two, three]) == expected
    assert digests.digest_of([one, two, two]) != digests.digest_of([one, two])


def test_the_record_digest_is_over_the_digest_the_votes_the_policy_and_the_note() -> None:
    parts = [sha(each) for each in ("digest", "vote 1", "vote 2", "policy", "note")]
    digest, first, second, policy, note = parts
    record = digests.record_digest_of(digest=digest, votes=[second, first], policy=policy, note=note)
    assert record == sha("\n".join(sorted(parts)))


ODD = 'e\u0301\r\n"\\\x00\x7f\u2028é\U0001f634'
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.sampled_from(ODD))
FIVE = st.lists(TEXTS, min_size=5, max_size=5)


@given(texts=FIVE, points=st.none() | st.integers(), levels=st.none() | st.lists(TEXTS))
def test_lines_put_together_are_canonical_lines(texts: list[str], points: int | None, levels: list[str] | None) -> None:
    one, two, three, four, five = texts
    vote = {"criterion": one, "person": two, "choice": three, "points": points, "category": four, "reason": five}
    expected = hashlib.sha256(canonical_line({**vote, "round": 2})).hexdigest()
    assert digests.vote_sha256(**vote, round_number=2) == expected  # type: ignore[arg-type]
    line = {"conversation_id": one, "text": two, "points": points or 1, "axis": three}
    scale: object = four if levels is None else {"name": four, "levels": levels}
    expected = hashlib.sha256(canonical_line({**line, "scale": scale})).hexdigest()
    assert digests.criterion_sha256(**line, scale=four, levels=levels) == expected  # type: ignore[arg-type]
