"""Numbers in a page: arrays as text, so that a browser has them to the bit."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from .markup import Markup

# Types of arrays as both sides call them.
TYPES = {"f4": np.float32, "f8": np.float64, "i2": np.int16, "i4": np.int32, "u4": np.uint32, "u1": np.uint8}


def packed(values: Any, kind: str) -> dict[str, str]:
    """An array as JSON: its type, and its bytes, little end first, in base 64.

    Parameters
    ----------
    values : array-like
        The numbers.
    kind : {"f4", "f8", "i2", "i4", "u4", "u1"}
        Their type.
    """
    array = np.ascontiguousarray(np.ravel(values), dtype=np.dtype(TYPES[kind]).newbyteorder("<"))
    return {kind: base64.b64encode(array.tobytes()).decode("ascii")}


def as_json(record: Any) -> str:
    """A record as JSON; what is no number, or infinite, is null."""
    return json.dumps(finite(record), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def finite(value: Any) -> Any:
    """JSON-safe values, with None for numbers that JSON has no word for."""
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    if isinstance(value, np.ndarray):
        return finite(value.tolist())
    if isinstance(value, np.generic):
        return finite(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def in_script(record: Any) -> Markup:
    """JSON that no tag in a name can end."""
    return Markup(as_json(record).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
