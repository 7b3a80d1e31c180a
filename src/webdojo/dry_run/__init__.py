"""What a recipe costs, known before it runs."""
