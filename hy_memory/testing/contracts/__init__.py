"""Conformance classes: subclass one in a test file, give it a fixture, and the whole contract runs."""
