"""Documents of several formats, read as text."""
