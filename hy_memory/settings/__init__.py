"""Everything a client can be told, read once into one frozen object."""
