"""Crowds: the Spammer Index, recorded right answers, and sources side by side."""

SUSPICIOUS = 0.1
"""The Spammer Index from which a crowd deserves a look, after Ba, Mancenido, Chiou and Pan."""
