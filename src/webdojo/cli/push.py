"""`webdojo push RUN HUB_ID`: a trained model on the Hugging Face hub."""

from __future__ import annotations

from typing import Annotated

import typer

from webdojo.cli.app import RunFolder, app


@app.command()
def push(
    run: RunFolder,
    hub_id: Annotated[str, typer.Argument(metavar="HUB_ID", help="Where to: owner/name.")],
    checkpoint: Annotated[
        str, typer.Option(metavar="NAME", help="Such as rl-18 or sft; best: of the most successful policy.")
    ] = "best",
    private: Annotated[bool, typer.Option("--private", help="Make a repository that others cannot see.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the model card, and upload nothing.")] = False,
) -> None:
    """Upload a checkpoint with a model card that is made from the run."""
    from webdojo.loops.push import check_hub_id, chosen
    from webdojo.loops.push import push as upload
    from webdojo.store.run import RunStore
    from webdojo.view.card import model_card

    check_hub_id(hub_id)
    with RunStore.open(run, readonly=True) as store:
        found = chosen(store, checkpoint)
        card = model_card(store, found, hub_id)
        if dry_run:
            typer.echo(card, nl=False)
            return
        typer.echo(f"{found.name}: {upload(store, found, card, hub_id, private=private)}")
