"""Files and diffs: edits of bytes applied, shown as a diff, and diffs of others read."""
