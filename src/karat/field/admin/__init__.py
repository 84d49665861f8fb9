"""The dashboard of researchers: login, the live page of each study, participants, downloads."""
