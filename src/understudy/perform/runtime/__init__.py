"""Frame-by-frame performance: commands are planned into segments that a particle follows through latent space."""
