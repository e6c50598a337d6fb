"""Work that no single call waits for: checks, rebuilding projections, changing the embedder."""
