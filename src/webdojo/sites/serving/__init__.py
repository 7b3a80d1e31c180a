"""Serves embedded sites and MiniWoB++ from local ports, with state that belongs to sessions."""
