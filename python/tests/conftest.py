"""Ctrl-C raises in tests, also where they run in the background of a shell, which ignores it."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
