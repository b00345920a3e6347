"""What face graphs are compared with: the all-pairs graph of Zhang et al. 2004, and one graph for the whole face."""

from understudy.expression.baselines.zhang import AllPairs, all_pairs

__all__ = ["AllPairs", "all_pairs"]
