"""What a worker's exit code tells the process manager that started it."""

from typing import Final

EXIT_RESTART: Final = 75
"""EX_TEMPFAIL of sysexits.h: this process could not go on, a fresh one can."""

EXIT_REPLACED: Final = 78
"""EX_CONFIG of sysexits.h: a newer process has this worker's name. Started again, this one would
take the name back, so a process manager must leave it down until somebody has looked."""

EXIT_INTERRUPTED: Final = 130
"""What a shell expects of a program that Ctrl-C ended."""
