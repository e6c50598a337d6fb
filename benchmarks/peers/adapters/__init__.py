"""One module a library: how it is opened, filled and asked; loaded by path, in its own environment."""
