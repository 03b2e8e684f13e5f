"""The model file: one SQLite database of a JSON header and typed, checksummed arrays.

Nothing is executed on load. Arrays are stored in blocks, and a block of all chains with their states is one
transaction, so that a half-written draw cannot be read.
"""

from .place import partial_path, place_of, require_free
from .reader import ModelReader, open_model
from .writer import ModelWriter, is_begun

__all__ = ["ModelReader", "ModelWriter", "is_begun", "open_model", "partial_path", "place_of", "require_free"]
