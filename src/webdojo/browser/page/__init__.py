"""What is known about a page besides its pixels, and the scripts that read it inside the page."""
