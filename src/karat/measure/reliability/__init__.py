"""The agreement of answers between participants, between sessions, and with the best possible prediction."""
