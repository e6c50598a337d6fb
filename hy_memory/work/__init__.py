"""Working and coding memory: what a session of an agent with tools did, apart from chat memory."""
