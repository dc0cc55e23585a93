"""The GPUs of a run."""
