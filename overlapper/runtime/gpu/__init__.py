"""The CUDA driver, kernels compiled and started, device memory, and which GPUs there are."""
