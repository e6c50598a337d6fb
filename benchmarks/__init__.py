"""Measurements that are run by hand: retrieval quality, speed, memory. Never part of the tests."""
