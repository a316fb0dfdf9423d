"""How long a call is tried again: counted, with pauses that grow, and an end."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How often something is tried again, and after how many seconds.

    An endpoint that is away (no connection, or only faults) may be restarting: it is waited for ``seconds_away``
    before its run is paused. A pair that had ``lost`` calls without an answer is given up before that.
    """

    asked_again: int = 2
    broken_off: int = 20
    faults: int = 5
    lost: int = 100
    too_many: int = 60
    seconds_away: float = 600.0
    first_pause: float = 1.0
    longest_pause: float = 30.0

    def pause(self, tries: int) -> float:
        """Twice as long each time, and never the same for two calls."""
        return min(self.first_pause * 2.0 ** (tries - 1), self.longest_pause) * random.uniform(0.7, 1.3)


@dataclass(slots=True)
class Tries:
    """What happened to one pair since its job began."""

    faults: int = 0
    too_many: int = 0
    first_fault_at: float = 0.0
