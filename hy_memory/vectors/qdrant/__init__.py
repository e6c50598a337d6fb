"""The Qdrant backend: embedded in this process (a path) or on a server (a URL)."""
