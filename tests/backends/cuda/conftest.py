"""Tests of the graphics card; what they share needs PyTorch and Triton."""

collect_ignore = ["cuda_cases.py", "cuda_here.py", "cuda_ptx.py", "cuda_words.py", "interpret.py"]
