"""What a rule is, which rules there are, and the edits that they propose."""
