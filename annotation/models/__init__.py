"""People and studies; conversations, draft criteria, rounds and votes."""

from annotation.models.care import (
    ConversationLock,
    ConversationReport,
    DeclinedTopic,
    LockDecision,
    ReportClosing,
)
from annotation.models.conversations import Acuity, Assignment, Conversation, FileImport, UserProfile
from annotation.models.criteria import Criterion, Revision, RevisionWriter, Scale
from annotation.models.hours import DeclaredTime
from annotation.models.likenesses import SettledLikeness
from annotation.models.notices import Notice
from annotation.models.people import Consent, Digests, Membership, Role, User
from annotation.models.practice import PracticeAnswer, PracticeChoice, PracticeExample, PracticePart
from annotation.models.rounds import (
    Comment,
    ObjectionCategory,
    Round,
    RoundCriterion,
    RoundOutcome,
    Vote,
    VoteRequest,
)
from annotation.models.studies import DEFAULT_AXES, Demand, Drafting, Policy, Study, TextClass, Weights
from annotation.models.sufficiency import SufficiencyAnswer
from annotation.models.trials import PilotMark, PilotResponse
from annotation.models.unsent import UnsentText
from annotation.models.waves import Wave, waits_for_its_wave

__all__ = [
    "DEFAULT_AXES",
    "Acuity",
    "Assignment",
    "Comment",
    "Consent",
    "Conversation",
    "ConversationLock",
    "ConversationReport",
    "Criterion",
    "DeclaredTime",
    "DeclinedTopic",
    "Demand",
    "Digests",
    "Drafting",
    "FileImport",
    "LockDecision",
    "Membership",
    "Notice",
    "ObjectionCategory",
    "PilotMark",
    "PilotResponse",
    "Policy",
    "PracticeAnswer",
    "PracticeChoice",
    "PracticeExample",
    "PracticePart",
    "ReportClosing",
    "Revision",
    "RevisionWriter",
    "Role",
    "Round",
    "RoundCriterion",
    "RoundOutcome",
    "Scale",
    "SettledLikeness",
    "Study",
    "SufficiencyAnswer",
    "TextClass",
    "UnsentText",
    "User",
    "UserProfile",
    "Vote",
    "VoteRequest",
    "Wave",
    "Weights",
    "waits_for_its_wave",
]
