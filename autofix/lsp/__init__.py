"""The language server: what `check` finds while one types, and on request what a run proves, as quick fixes."""
