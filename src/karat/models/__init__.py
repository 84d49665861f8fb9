"""Numerical engines: arrays in, arrays out."""
