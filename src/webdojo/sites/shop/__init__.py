"""Shops: categories of products, search, filters, sorting and a cart."""
