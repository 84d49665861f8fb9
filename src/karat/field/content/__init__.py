"""What participants read and answer; no database and no web."""
