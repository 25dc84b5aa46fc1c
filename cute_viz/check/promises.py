"""What each kind of check proves, and what it does not: the words of reports and of help, a line a kind in `promises.txt`."""

from __future__ import annotations

from cute_viz.records import rows

_ROWS = rows(__file__, "promises.txt")
PROVES = {kind: (proves, beyond) for kind, proves, beyond, *_ in _ROWS}
# The kinds in which the hardware itself decides; of these, the checks that carry a digest let a name be called verified
# (report.evidence).
CLAIMS = tuple(kind for kind, _, _, *hardware in _ROWS if hardware)
