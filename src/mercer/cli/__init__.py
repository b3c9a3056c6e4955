"""The command `mercer`: one file a verb. Nothing here loads NumPy before a verb runs."""
