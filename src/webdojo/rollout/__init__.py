"""Episodes and groups of them: what runs on the browsers and what is worth training on."""
