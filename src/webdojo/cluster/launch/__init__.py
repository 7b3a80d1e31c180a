"""What Slurm, KubeRay and SkyPilot expect, written from one recipe: each module renders the file of one tool.

The nodes that a file asks for are those on which the recipe's plan fits, so what is submitted can be placed.
"""
