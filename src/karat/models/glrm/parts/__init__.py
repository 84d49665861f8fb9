"""Crossed models of answers stored in parts, on disk or on several machines."""
