"""One module a library: how it is opened, filled and asked. Loaded by path, in the library's own environment."""
