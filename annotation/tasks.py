"""What workers do for people: ask for mail that is due, send what waits. Each may be done twice without harm."""

from procrastinate.contrib.django import app

from annotation.digests import ask_for_due_mail
from annotation.sending import send_waiting

SOON = 50


@app.periodic(cron="*/10 * * * *")
@app.task(name="annotation.ask_for_due_mail", priority=SOON, queueing_lock="ask for due mail")
def ask_for_mail(timestamp: int) -> None:
    """Every ten minutes: digests and reminders, for those whose morning it is."""
    ask_for_due_mail()


@app.periodic(cron="* * * * *")
@app.task(name="annotation.send_waiting_mail", priority=SOON, queueing_lock="send waiting mail")
def send_mail(timestamp: int) -> None:
    """Every minute: what waits to be sent."""
    send_waiting()
