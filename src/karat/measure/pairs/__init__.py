"""Which of two stimuli is better, pair by pair, and how measures compare."""
