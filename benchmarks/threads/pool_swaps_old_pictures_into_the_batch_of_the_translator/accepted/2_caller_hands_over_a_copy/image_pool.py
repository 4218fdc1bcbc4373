import random


class ImagePool:
    """Buffer of formerly generated pictures.

    With probability 0.5 a picture of the batch is exchanged for an old one.
    """

    def __init__(self, pool_size):
        self.pool_size = pool_size
        self.images = []

    def query(self, images):
        if self.pool_size == 0:
            return images
        for i in range(images.size(0)):
            if len(self.images) < self.pool_size:
                self.images.append(images[i].clone())
            elif random.random() > 0.5:
                j = random.randrange(self.pool_size)
                old = self.images[j]
                self.images[j] = images[i].clone()
                images[i] = old
        return images
