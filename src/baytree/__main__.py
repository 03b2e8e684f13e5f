"""``python -m baytree``, the same as ``baytree``."""

from .cli import main

if __name__ == "__main__":
    main()
