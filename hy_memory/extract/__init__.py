"""Writing with a language model: from a stored exchange to facts that go with what is known already."""
