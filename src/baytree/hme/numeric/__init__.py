"""What soft trees compute with, on arrays of any kind."""
