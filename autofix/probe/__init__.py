"""The probe: what runs in the user's interpreter. Standard library and torch only; imports nothing of the host."""
