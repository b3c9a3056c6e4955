"""Wrong guesses, and what is said about them: names of other books and libraries, and what they are called here."""
