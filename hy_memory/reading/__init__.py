"""Readers: tuples of stages that turn a request into an answer."""
