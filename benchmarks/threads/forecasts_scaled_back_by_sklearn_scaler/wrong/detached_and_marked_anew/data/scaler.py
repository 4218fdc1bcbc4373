import numpy as np


class StandardScaler:
    """the part of sklearn's that we use (no sklearn on the cluster)"""

    def fit(self, X):
        self.mean_ = X.mean(0)
        self.scale_ = X.std(0)
        return self

    def transform(self, X):
        X = np.asarray(X, dtype=np.float32)
        return (X - self.mean_) / self.scale_

    def inverse_transform(self, X):
        X = np.asarray(X, dtype=np.float32)
        X = X * self.scale_
        X = X + self.mean_
        return X
