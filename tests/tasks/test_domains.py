"""What tasks are about, as their set, a table or nobody says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdojo.tasks.domains import DOMAIN_OF, SITES, TAXONOMY, UNKNOWN, domain_of, subdomain_of
from webdojo.types import Task

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()


def test_the_taxonomy_has_6_domains_with_24_subdomains_each_of_one_domain() -> None:
    assert len(TAXONOMY) == 6
    assert len(DOMAIN_OF) == sum(map(len, TAXONOMY.values())) == 24
    assert set(SITES.values()) == set(DOMAIN_OF)


@pytest.mark.parametrize("domain", TAXONOMY)
def test_the_page_on_task_sets_has_the_taxonomy(domain: str) -> None:
    assert f"| {domain} | {'; '.join(TAXONOMY[domain])} |\n" in PAGE


@pytest.mark.parametrize(
    ("website", "more", "domain", "subdomain"),
    [
        ("www.amazon.com", {}, "Lifestyle & Leisure", "Shopping"),
        ("www.merriam-webster.com", {}, "Misc.", "General Info."),
        ("finance.yahoo.com", {}, "Misc.", "Finance & Investment"),
        ("www.yahoo.com", {}, "Misc.", "General Info."),
        ("www.ohio.gov", {}, "Misc.", "Legal & Government Services"),
        ("cs.umich.edu", {}, "Career & Education", "Education & Learning"),
        ("www.amazon.com", {"metadata": {"domain": "Travel", "subdomain": "Airlines"}}, "Travel", "Airlines"),
        ("www.amazon.com", {"metadata": {"domain": "Books"}}, "Books", "Shopping"),
        ("nobody.example", {"metadata": {"subdomain": "Music"}}, "Entertainment", "Music"),
        ("shop-17.localhost", {"kind": "shop"}, "shop", "shop"),
        ("nobody.example", {"metadata": {"domain": 3, "subdomain": ""}}, UNKNOWN, UNKNOWN),
    ],
)
def test_the_domain_of_a_task(website: str, more: dict[str, object], domain: str, subdomain: str) -> None:
    task = Task.model_validate({"id": "a", "instruction": "", "start_url": "", "website": website, **more})
    assert (domain_of(task), subdomain_of(task)) == (domain, subdomain)
