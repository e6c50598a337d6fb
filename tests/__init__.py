"""The tests: `support` is shared, every other folder asks one question of the library."""
