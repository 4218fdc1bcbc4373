"""What a failure says of the versions that a script was written for: spellings that have gone from later ones."""

from __future__ import annotations

import re

from autofix.probe import wire

_GONE = {
    rf"No module named '({'|'.join(sorted(wire.PYTHON_2))})'": "Python 2",
    r"name '(xrange|unicode|raw_input|reduce|basestring|unichr|long)' is not defined": "Python 2",
    r"'dict(_\w+)?' object has no attribute '(iteritems|itervalues|iterkeys|has_key)'": "Python 2",
    r"module 'numpy' has no attribute|`np\.\w+` was removed": "an older numpy, which had that name",
    r"module 'torch[\w.]*' has no attribute": "another torch, which had that name",
    r"Weights only load failed": "torch before 2.6, whose torch.load took any file: pass weights_only=False",
    r"invalid index of a 0-dim tensor|invalid index to scalar": "torch before 0.5: take .item() of a loss, not [0]",
    r"load\(\) missing 1 required positional argument: 'Loader'": "PyYAML before 6: write yaml.safe_load",
    r"unexpected keyword argument '(async|volatile|retain_variables)'": "torch before 0.4",
    r"DataLoaderIter' object has no attribute 'next'": "torch before 1.13: write next(loader)",
}


def written_for(said: str) -> str:
    """What an exception's text says of the versions that a script was written for; '' where it says nothing of them."""
    return next((words for pattern, words in _GONE.items() if re.search(pattern, said)), "")
