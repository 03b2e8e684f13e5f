"""What a model file is, to whoever writes or reads one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# Files of format 1 have no packed arrays.
FORMAT, OLDEST = 2, 1
APPLICATION_ID = 0x62617974  # "bayt", in the database's own header
DTYPES = frozenset({"<f4", "<f8", "<i8", "<u8", "<i4", "<u4", "|u1"})
# What stands before the type of an array that is packed.
PACKED = "packed "
# What a file unpacks to: at most so many times its size, and so many bytes more.
MOST_TIMES, FREE = 64, 2**24
TABLES = (
    "CREATE TABLE header (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE states (chain INTEGER PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE arrays (\n"
    "  name TEXT, chain INTEGER, block INTEGER, dtype TEXT NOT NULL, shape TEXT NOT NULL, checksum INTEGER NOT NULL,\n"
    "  data BLOB NOT NULL, PRIMARY KEY (name, chain, block))",
)
# SQLite's own limit for one value is a little more.
LARGEST_ARRAY = 900_000_000
# A writer waits so long for readers, and they for it, before it gives up.
BUSY_SECONDS = 60.0

Arrays = Mapping[str, np.ndarray]
