"""What a plug-in author's tests need: conformance classes, fakes and Hypothesis strategies."""
