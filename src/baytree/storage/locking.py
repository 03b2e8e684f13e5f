"""The lock of an open file, on every system: nobody waits for it, and it goes with its process."""

from __future__ import annotations

import os
import sys

# Whether an open file has a name for as long as it is open.
KEEPS_NAME = sys.platform == "win32"

if sys.platform == "win32":
    import msvcrt

    # A byte that nothing is written to, as nobody may read what is locked.
    FAR = 1 << 30

    def lock(file: int) -> None:
        """Lock an open file, or raise OSError where somebody else has."""
        os.lseek(file, FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def lock(file: int) -> None:
        """Lock an open file, or raise OSError where somebody else has."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
