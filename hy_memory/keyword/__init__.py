"""The local keyword leg: BM25 over postings held in memory, one set for each user."""
