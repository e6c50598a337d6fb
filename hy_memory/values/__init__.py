"""Frozen values that travel between the rooms; no behaviour beyond conversion."""
