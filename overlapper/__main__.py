"""``python -m overlapper`` is the console script."""

from overlapper.cli import main

main()
