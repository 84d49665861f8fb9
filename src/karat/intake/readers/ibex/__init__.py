"""Ibex and PCIbex: their logs, the answers in them and the people who gave them."""
