"""What several methods are fitted by: weights on a simplex, ridge regression, pose features, mesh gradients."""
