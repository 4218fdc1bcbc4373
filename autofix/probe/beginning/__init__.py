"""A beginning that several runs share: executed once, and gone on from by forks, where that is what each run does."""
