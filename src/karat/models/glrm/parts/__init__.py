"""Crossed models of answers that lie in parts of workers, on disk or on several machines."""
