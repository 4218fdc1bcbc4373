"""The rules, one wrong pattern a file; installed as `autofix.rules` and found there without registration."""
