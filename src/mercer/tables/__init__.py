"""Tables in: CSV, Parquet, Arrow, NPY, NPZ and LIBSVM."""
