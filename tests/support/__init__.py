"""What several test folders share: stores to open, an embedder with chosen vectors, an oracle."""
