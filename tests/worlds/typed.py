"""What is typed after the name of each of the product's commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation.raw_data import RAW_TABLES
from tests.worlds.files import files_of
from tests.worlds.scene import Scene


@dataclass(frozen=True)
class Typed:
    """The words after a command's name. ``is_refused``: it ends with 1; ``ends_blindness``: as of an act."""

    words: tuple[str, ...]
    is_refused: bool = False
    ends_blindness: bool = False


NOT_COMPARED = {
    "demo": "makes a study of its own",
    "local_grader": "serves a model and touches no study",
}


def write_files(scene: Scene, folder: Path) -> dict[str, list[str]]:
    """The files that are brought, written where commands find them: kind -> paths."""
    written: dict[str, list[str]] = {}
    for kind, files in files_of(scene).items():
        for number, file in enumerate(files):
            path = folder / f"{kind}-{number}.jsonl"
            path.write_text(file.content)
            written.setdefault(kind, []).append(str(path))
    return written


def typed_after(scene: Scene, files: Mapping[str, list[str]], folder: Path) -> dict[str, list[Typed]]:
    """What is typed after each command, by its name."""
    study, run = scene.panel.study.slug, str(scene.run.id)
    by_admin, by_researcher = ("--by", scene.panel.adam.email), ("--by", scene.panel.rita.email)
    by_both = ("--by", scene.panel.eva.email)

    def imported(kind: str, *options: str, by: tuple[str, ...] = by_admin, is_refused: bool = False) -> list[Typed]:
        return [
            Typed((study, path, *by, *options, *check), is_refused=is_refused)
            for path in files[kind]
            for check in (("--check",), ())
        ]

    def round_act(*conversations: str, **facts: bool) -> list[Typed]:
        return [Typed((study, *conversations, *by_admin), **facts)]

    return {
        "create_study": [Typed(("another", "--name", "Another", *by_admin))],
        "add_member": [Typed((study, "gina@example.org", "--role", "clinician"))],
        "set_study": [Typed((study, "--name", "Worlds apart", *by_admin))],
        "import_members": imported("members"),
        "import_conversations": imported("conversations"),
        "import_criteria": [
            *imported("criteria", "--revise"),
            *imported("criteria", "--keep-drafting", is_refused=True),
        ],
        "import_votes": [*imported("votes"), *imported("votes", by=by_both, is_refused=True)],
        "import_pilot_responses": imported("pilot_responses"),
        "import_practice": imported("practice"),
        "import_responses": imported("responses", by=by_researcher),
        "import_verdicts": imported("verdicts", by=by_researcher),
        "assign": [Typed((study,)), Typed((study, "--reviewers", "5"))],
        "open_wave": [Typed((study, "1", *by_admin))],
        "export_data": [
            Typed((study, "--what", what, "--format", "csv", "--output", str(folder / f"{what}.csv"), *by_admin))
            for what in RAW_TABLES
        ],
        "send_digests": [Typed(()), Typed(("--check",))],
        "time_sheet": [Typed((study, "--output", str(folder / "time.xlsx")))],
        "status": [Typed((study,))],
        "set_dates": [
            Typed((study, f"--{of}-until", scene.later.isoformat())) for of in ("drafting", "round", "discussion")
        ],
        "close_drafting": round_act(),
        "reopen_drafting": round_act(),
        "open_round": round_act(),
        "close_round": round_act("one", ends_blindness=True),
        "change_policy": [
            Typed((study, "--preset", "two-of-three", *by_admin, *check)) for check in (("--check",), ())
        ],
        "deactivate_person": [Typed((scene.panel.ben.email,))],
        "api_token": [Typed((scene.panel.chloe.email,))],
        "freeze": [Typed((study, *by_admin))],
        "export_version": [
            Typed((study, "1", "--format", form, "--output", str(folder / f"version.{form}")))
            for form in ("healthbench", "csv")
        ],
        "register_grader": [Typed((study, "second", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"))],
        "grade": [Typed((study, "--version", "1", "--grader", "judge", *by_researcher))],
        "runs": [Typed((study,))],
        "run_status": [Typed((run,))],
        "pause_run": [Typed((run,))],
        "resume_run": [Typed((run,), is_refused=True)],
        "cancel_run": [Typed((run,))],
        "scores": [Typed((run, *by_researcher))],
        "agreement": [Typed((run, *by_researcher))],
        "vote_agreement": [Typed((study,))],
    }
