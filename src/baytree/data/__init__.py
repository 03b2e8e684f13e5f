"""Tables: files and frames as values, values as bins or as a matrix, with a response."""
