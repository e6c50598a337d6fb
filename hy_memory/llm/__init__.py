"""What a language model is asked: the port, the adapter, the prompts, and the questions."""
