"""The model as engine and learner share it: loading, inputs, and the one forward pass that scores tokens.

`loading` reads folders and `layouts` says how a model type is driven; `processor` turns text and screenshots into
what a model reads; `collate` lays samples out and `forward` scores batches of them, packed ones by
`tree_attention`; `features` keeps what the vision tower made of a screenshot.
"""
