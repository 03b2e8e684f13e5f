# Only builds for the tests have it.
^_core\.testing$:

