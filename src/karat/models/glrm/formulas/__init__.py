"""Models written as formulas: reading them, the design, tests, intervals and marginal means."""
