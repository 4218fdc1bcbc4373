from .autoencoder import Autoencoder
from .denoiser import Denoiser
from .diffusion import LatentDiffusion
