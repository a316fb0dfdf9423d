"""`make run`: everything on this machine, in one terminal, until Ctrl-C.

PostgreSQL, the tables, the demo study, the web server, one worker and the local grader are started in this order, each
waited for until it answers; then one address is printed. The end of this process, however it comes, is the end of
all of them, and loses nothing: a second start finds what the first left. It listens on 127.0.0.1 alone.
"""
