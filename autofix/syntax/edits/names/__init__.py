"""Names of tensors that are written: second ones, and those that are to have a value of their own."""
