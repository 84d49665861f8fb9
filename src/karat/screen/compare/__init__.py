"""What exclusions change: other rules (the multiverse), the effects of a study, and who is left."""
