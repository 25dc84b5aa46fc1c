"""What layouts mean for the hardware and the reader: bank conflicts, access analysis, the swizzle search, explained steps."""

from cute_viz.analysis.banks import ideal_wavefronts, phases, shared_wavefronts

__all__ = ["ideal_wavefronts", "phases", "shared_wavefronts"]
