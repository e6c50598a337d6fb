"""How the constants of `hy_memory.e5.frame` were made, so that anybody can make them again."""
