"""Text preparation: normal forms, terms, and what else is a function of text alone."""
