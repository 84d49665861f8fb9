"""The texts, trials and forms of participants, without database and web."""
