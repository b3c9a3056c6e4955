"""One graphics card of NVIDIA's, by PyTorch and Triton."""
