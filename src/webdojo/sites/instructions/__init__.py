"""How goals become instructions: sentence templates, phrasings of goals, and references to things."""
