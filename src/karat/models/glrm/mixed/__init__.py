"""Mixed models with any random effects: terms, their covariances, the likelihood and the search."""
