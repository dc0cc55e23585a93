"""``python -m overlapper`` is the console script."""

from overlapper.console import main

main()
