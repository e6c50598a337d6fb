"""Local rerank: the stage with a stub, and real cross-encoders where torch is installed."""
