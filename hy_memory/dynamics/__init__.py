"""How memories live: which kind they are, how much they matter, how that fades and grows. Pure functions."""
