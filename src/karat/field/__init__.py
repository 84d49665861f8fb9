"""Field: the web application that asks people, and its store."""
