"""How far answers agree: between participants, between sessions, and with the best possible prediction."""
