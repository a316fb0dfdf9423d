"""Counts as a sentence says them: 1 criterion, 12 criteria; 1 conversation, 3 conversations."""


def counted_criteria(count: int) -> str:
    return "1 criterion" if count == 1 else f"{count:,} criteria"


def counted_conversations(count: int) -> str:
    return "1 conversation" if count == 1 else f"{count:,} conversations"
