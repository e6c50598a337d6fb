"""The Chroma backend: embedded in a folder, or a server at a URL; vectors only, no keyword leg."""
