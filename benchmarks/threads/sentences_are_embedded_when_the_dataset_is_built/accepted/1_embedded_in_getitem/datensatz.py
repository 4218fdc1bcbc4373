from torch.utils.data import Dataset


class SatzDatensatz(Dataset):
    """Liefert (Vektoren des Satzes, Klasse)."""

    def __init__(self, saetze, embedding):
        self.embedding = embedding
        self.eintraege = list(saetze)

    def __len__(self):
        return len(self.eintraege)

    def __getitem__(self, i):
        ids, klasse = self.eintraege[i]
        return self.embedding(ids), klasse
