"""``python -m consilium.running``."""

import signal
import sys

if __name__ == "__main__":
    # Until the start listens for it, Ctrl-C just ends this process: nothing has been started yet.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from consilium.running.starting import main

    sys.exit(main())
