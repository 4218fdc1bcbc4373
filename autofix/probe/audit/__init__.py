"""What a run shows of its training besides crashing or not: who trains what, and faults that crash nothing."""
