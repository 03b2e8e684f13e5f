"""Pictures. Matplotlib is imported here and nowhere else."""
