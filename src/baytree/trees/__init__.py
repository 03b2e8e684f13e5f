"""Trees as people see them and as the core stores them: one, many, added up, written down, compared."""
