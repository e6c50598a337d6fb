"""How the constants of `hy_memory.embedding.e5_frame` were made, so that anybody can make them again."""
