"""Responses, graders, runs with their attempts and grades, and reviewer verdicts."""

from grading.models.responses import Respondent, Response, ReviewerVerdict
from grading.models.runs import Attempt, Grade, Grader, GradesOpened, Run, RunResponse

__all__ = [
    "Attempt",
    "Grade",
    "Grader",
    "GradesOpened",
    "Respondent",
    "Response",
    "ReviewerVerdict",
    "Run",
    "RunResponse",
]
