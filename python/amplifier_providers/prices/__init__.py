"""What calls of models cost: the counts of a call, the rates of a model, and where both come from."""
