"""The contract's verbs by what they do: search, write, look at what is stored."""
