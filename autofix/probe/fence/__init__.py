"""What a run can reach and write, which processes it may leave, and what it used of the machine."""
