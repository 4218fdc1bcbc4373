def get_options():
    return {
        "seed": 1,
        "epochs": 2,
        "batch": 3,
        "n_slices": 9,
        "size": 12,
        "model": {"width": 6, "lr": 1e-3, "betas": (0.5, 0.999),
                  "wgts": {"gl": 1.0, "ll": 5.0, "hh": 5.0, "art": 2.0}},
    }
