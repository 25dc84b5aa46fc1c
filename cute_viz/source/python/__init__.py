"""Python files of the CuTe DSL -> what they define, by scope, name and line; nothing is executed or imported."""

from __future__ import annotations

from cute_viz.source.model import Given, SourceFile
from cute_viz.source.python.entries import entries_of
from cute_viz.source.python.moves import launches, moves
from cute_viz.source.python.runs import Runs
from cute_viz.source.python.tree import Tree


def read(text: str, given: Given) -> SourceFile:
    """The definitions of a Python text, each evaluated when it is asked for.

    Raises: NotationError for text that is not Python, LimitError for text that is too large.

    >>> file = read("class Kernel:\\n    def __init__(self, n: int = 4):\\n        self.shape = (n, 8)", Given())
    >>> entry = file.find("Kernel.__init__.self.shape")
    >>> entry.path, entry.line, entry.read()
    ('Kernel::__init__::self.shape', 3, (4, 8))
    """
    tree = Tree(text)
    runs = Runs(tree, given)
    return SourceFile(text, entries_of(tree, runs), moves=lambda: moves(tree, runs), launches=lambda: launches(tree))
