from torch.utils.data import Dataset


class SatzDatensatz(Dataset):
    """Liefert (Vektoren des Satzes, Klasse)."""

    def __init__(self, saetze, embedding):
        self.embedding = embedding
        self.eintraege = list(saetze)

    def __len__(self):
        return len(self.eintraege)

    def __getitem__(self, i):
        vektoren, klasse = self.eintraege[i]
        return vektoren, klasse
