"""A small taxonomy of skin lesions: root -> group -> family -> diagnosis."""
import torch

PATHS = {
    "naevus": ["benign", "melanocytic", "naevus"],
    "lentigo": ["benign", "melanocytic", "lentigo"],
    "wart": ["benign", "keratotic"],
    "melanoma": ["malignant", "pigmented", "melanoma"],
    "lentigo_maligna": ["malignant", "pigmented", "lentigo_maligna"],
    "carcinoma": ["malignant", "epithelial"],
}
LEAVES = list(PATHS)
DEPTH = 3


def leaf_sets():
    """numerators[leaf, level, other]: is `other` below the node on this level of the leaf's path? denominators: below its parent?"""
    n = len(LEAVES)
    num, den = torch.zeros(n, DEPTH, n), torch.zeros(n, DEPTH, n)
    for i, leaf in enumerate(LEAVES):
        path = PATHS[leaf]
        for level in range(len(path)):
            for j, other in enumerate(LEAVES):
                if PATHS[other][:level] == path[:level]:
                    den[i, level, j] = 1.0
                    if PATHS[other][:level + 1] == path[:level + 1] or (level + 1 == len(path) and i == j):
                        num[i, level, j] = 1.0
    return num, den
