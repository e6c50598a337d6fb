"""multilingual-e5-small from the inside: its frame, its pieces, and a vector for every token it reads."""
