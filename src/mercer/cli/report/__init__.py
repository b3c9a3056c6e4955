"""The report of `mercer fit`: one HTML file that asks for nothing from elsewhere. One section a file."""
