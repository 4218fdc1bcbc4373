"""The search for repairs: what a rule is, which rules there are, and the edits that they propose."""
