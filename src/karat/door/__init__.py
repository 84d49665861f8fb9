"""The open door: a page on this machine for people who do not like terminals."""
