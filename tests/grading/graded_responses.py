"""Graded responses written short, for the tests of scores."""

from grading.scoring import GradedPair, GradedResponse, Verdict

MET, NOT_MET, UNSCORED = Verdict.MET, Verdict.NOT_MET, Verdict.UNSCORED


def graded(
    *pairs: tuple[int, Verdict] | tuple[int, Verdict, str],
    conversation: str = "one",
    respondent: str = "model",
    sample: int = 1,
    acuity: str | None = "non_acute",
) -> GradedResponse:
    return GradedResponse(
        conversation=conversation,
        respondent=respondent,
        sample=sample,
        acuity=acuity,
        pairs=[GradedPair(pair[0], pair[2] if len(pair) == 3 else "accuracy", pair[1]) for pair in pairs],
    )
