"""Pictures of overlaps: a dot plot of two reads, and all overlaps along one read."""

from overlapper.plots.pair import align_pair, plot_pair
from overlapper.plots.pile import plot_pile

__all__ = ["align_pair", "plot_pair", "plot_pile"]
