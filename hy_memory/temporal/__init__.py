"""Time in language: which stretches of time a text speaks of, and how near a memory lies to them."""
