"""Pictures: how they look, and the shapes that they share. They take data, not results."""
