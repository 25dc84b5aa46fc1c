"""`python -m cute_viz` is the console script."""

from cute_viz.cli import main

if __name__ == "__main__":
    main()
