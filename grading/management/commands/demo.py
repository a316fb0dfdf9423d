"""Load the demo study, and start its run by the local grader."""

from argparse import ArgumentParser
from typing import Any

from annotation.demo import demo_people, demo_slug, demo_study
from consilium.commands import ConsiliumCommand
from grading.models import Grader, Run


class Command(ConsiliumCommand):
    help = "Load the demo study where it isn't loaded yet, and say who can sign in. All of it is invented."

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--grade",
            action="store_true",
            help="Also start a run of version 1 by the grader named local, where that is registered and never ran.",
        )

    def act(self, **options: Any) -> dict[str, Any]:
        # imported late: loading needs every app, saying who may sign in needs little
        from grading.demo import load_demo
        from grading.runs import start_run
        from rubrics.models import RubricVersion

        study = demo_study()
        is_new = study is None
        if study is None:
            study = load_demo()
        run = None
        grader = Grader.objects.filter(study=study, name="local").first()
        if options["grade"] and grader and not Run.objects.filter(study=study, grader=grader).exists():
            version = RubricVersion.objects.get(study=study, number=1)
            run = start_run(study=study, version=version, grader=grader, by=None)
        return {
            "study": demo_slug(),
            "loaded": is_new,
            "address_path": "/demo/",
            "run": str(run.id) if run else None,
            "people": [{"role": role, "name": person.name, "email": person.email} for role, person in demo_people()],
        }

    def say(self, report: dict[str, Any]) -> str:
        first = "The demo study is loaded." if report["loaded"] else "The demo study was loaded already."
        people = [f"  {person['role']:<11} {person['name']}, {person['email']}" for person in report["people"]]
        return "\n".join([first, *people])
