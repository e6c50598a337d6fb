"""Predicates over payload fields: a language, one reference meaning, and one maker of scoped filters."""
