"""`python -m webdojo.cli`."""

from webdojo.cli import main

main()
