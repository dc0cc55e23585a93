"""Pictures of overlaps: two reads against each other, and what piles up on one."""

from overlapper.plots.pair import align_pair, plot_pair
from overlapper.plots.pile import plot_pile

__all__ = ["align_pair", "plot_pair", "plot_pile"]
