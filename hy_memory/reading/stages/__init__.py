"""The stages that readers are made of, one idea each."""
