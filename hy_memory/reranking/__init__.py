"""Rerankers: models that read a question and a text together. Loaded by name, never by the core."""
