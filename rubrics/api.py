"""The REST API of rubric versions, why a criterion is in or out, and imports: the same acts as the pages."""


from rest_framework.response import Response

from annotation.models import Role
from annotation.policy_words import policy_clauses, policy_name
from rubrics.api_shapes import (
    WholeVersionShape,
)
from rubrics.models import RubricVersion

OVERSEERS = (Role.ADMIN, Role.RESEARCHER)


def whole_version(version: RubricVersion) -> Response:
    policy = version.policy
    version.policy_in_words = (  # type: ignore[attr-defined]
        {"version": policy.version, "name": policy_name(policy), "clauses": policy_clauses(policy)} if policy else None
    )
    return Response(WholeVersionShape(version).data)
