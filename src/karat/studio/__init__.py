"""The browser app: pages on this machine for people who do not like terminals."""
