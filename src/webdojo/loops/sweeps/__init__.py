"""One recipe in several variants and seeds: which runs there are, and what came of them."""
