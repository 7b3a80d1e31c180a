"""How sites look: colours and layouts drawn from (kind, seed), drawn pictures, and pages turned into HTML."""
