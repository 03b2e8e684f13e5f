"""What every MCMC sampler has, knowing no family: settings, mixtures of proposals, tempering, progress."""
