"""What exclusions change: results under other rules (the multiverse), effects, and the composition of the sample."""
