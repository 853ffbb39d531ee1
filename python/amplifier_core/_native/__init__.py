"""The extension: whether it is the engine, what drives its operations, how a program with it ends."""
