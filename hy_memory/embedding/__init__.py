"""Texts to vectors: adapters of the embedder port, each loaded by name, and the wrappers around them."""
