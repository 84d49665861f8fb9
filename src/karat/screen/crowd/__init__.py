"""Crowds: the Spammer Index, recorded right answers, and sources side by side."""

SUSPICIOUS = 0.1
"""The Spammer Index from which a crowd deserves a closer look (Ba, Mancenido, Chiou and Pan)."""
WIDEST = 0.8
"""An interval of the Spammer Index wider than this is uninformative, whatever the estimate."""
