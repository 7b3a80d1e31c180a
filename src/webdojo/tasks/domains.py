"""What the task of a set is about, in the words of one taxonomy.

The taxonomy is that of Mind2Web 2, 6 domains with 24 subdomains, by which WebGym counts its tasks (arXiv 2601.02439,
§3.4) and leaves half of them out (§5.3); names as in its released code. Its rows have a column for each. Where a set
has none, a table here says it of well-known sites.
"""

from __future__ import annotations

from webdojo.tasks.site import site_of
from webdojo.types import Task

DOMAIN = "domain"
"""The key of `Task.metadata` for what a task is about."""
SUBDOMAIN = "subdomain"
"""The key of `Task.metadata` for the same, more closely."""
UNKNOWN = "unknown"
"""The domain and subdomain of a task of which nothing says it."""

TAXONOMY: dict[str, tuple[str, ...]] = {
    "Lifestyle & Leisure": (
        "Shopping",
        "Food & Cooking",
        "Sports & Fitness",
        "Health & Medicine",
        "Pets & Animal Welfare",
        "Fashion & Beauty",
        "Hobbies & DIY",
    ),
    "Entertainment": (
        "Films & TV Shows",
        "Gaming & Virtual Worlds",
        "Live Shows & Performances",
        "Music",
        "Books & Reading",
    ),
    "Travel & Transportation": ("Travel & Accommodation", "Outdoor & Recreation", "Ticketed Activities"),
    "Career & Education": ("Education & Learning", "Jobs & Career"),
    "Science & Research": ("Research & Academia", "Technology & Science"),
    "Misc.": ("General Info.", "News", "Legal & Government Services", "Real Estate", "Finance & Investment"),
}
"""The subdomains of each domain."""
DOMAIN_OF = {subdomain: domain for domain, subdomains in TAXONOMY.items() for subdomain in subdomains}
"""The domain of each subdomain."""

_SITES = {
    "Shopping": "aliexpress.com amazon.com apple.com autotrader.com backcountry.com bestbuy.com bhphotovideo.com "
    "carfax.com cargurus.com carmax.com cars.com carvana.com costco.com craigslist.org dillards.com ebay.com "
    "edmunds.com etsy.com homedepot.com ikea.com jcpenney.com kbb.com kohls.com lowes.com macys.com microcenter.com "
    "nordstrom.com parkers.co.uk porsche.com rei.com samsung.com shopping.google.com speedo.com target.com temu.com "
    "tesla.com us-appliance.com versus.com walmart.com wayfair.com",
    "Food & Cooking": "allrecipes.com cookpad.com doordash.com epicurious.com foodnetwork.com grubhub.com "
    "instacart.com macyswineshop.com opentable.com raisingcanes.com redbull.com resy.com seriouseats.com "
    "traderjoes.com ubereats.com wineaccess.com yelp.com",
    "Sports & Fitness": "espn.com fifa.com foxsports.com mlb.com nba.com nfl.com nhl.com sports.yahoo.com ufc.com",
    "Health & Medicine": "americashealthrankings.org babycenter.com cdc.gov cvs.com drugs.com healthgrades.com "
    "healthline.com mayoclinic.org medicare.gov nih.gov webmd.com who.int",
    "Pets & Animal Welfare": "adoptapet.com akc.org petfinder.com",
    "Fashion & Beauty": "bathandbodyworks.com birkenstock.com nike.com sephora.com ulta.com uniqlo.com zara.com",
    "Hobbies & DIY": "michaels.com pinterest.com",
    "Films & TV Shows": "disney.com fandango.com imdb.com netflix.com rottentomatoes.com tvguide.com youtube.com",
    "Gaming & Virtual Worlds": "boardgamegeek.com chess.com gamestop.com ign.com leagueoflegends.com "
    "store.steampowered.com twitch.tv",
    "Live Shows & Performances": "seatgeek.com stubhub.com ticketmaster.com",
    "Music": "bandcamp.com discogs.com last.fm soundcloud.com spotify.com",
    "Books & Reading": "goodreads.com",
    "Travel & Accommodation": "aa.com airbnb.com amtrak.com booking.com budget.com carnival.com delta.com "
    "enterprise.com expedia.com flightaware.com flights.google.com greyhound.com hotels.com kayak.com mapquest.com "
    "maps.google.com marriott.com megabus.com mta.info openstreetmap.org qatarairways.com rentalcars.com ryanair.com "
    "sixt.com spothero.com tourradar.com travelzoo.com trip.com tripadvisor.com united.com wanderlog.com",
    "Outdoor & Recreation": "nps.gov recreation.gov",
    "Ticketed Activities": "eventbrite.com",
    "Education & Learning": "coolmath4kids.com coursera.org edx.org instructure.com khanacademy.org ted.com "
    "udacity.com udemy.com w3schools.com",
    "Jobs & Career": "amazon.jobs glassdoor.com indeed.com linkedin.com monster.com ycombinator.com ziprecruiter.com",
    "Research & Academia": "arxiv.org dblp.org iclr.cc jstor.org scholar.google.com",
    "Technology & Science": "4shared.com github.com gitlab.com huggingface.co kaggle.com mega.io microsoft.com "
    "nvidia.com pypi.org sourceforge.net stackoverflow.com verizon.com wolframalpha.com",
    "General Info.": "9gag.com accuweather.com bbb.org bing.com britannica.com cambridge.org dictionary.com "
    "duckduckgo.com facebook.com fandom.com fedex.com google.com imgur.com instagram.com merriam-webster.com quora.com "
    "reddit.com statista.com theweathernetwork.com thumbtack.com tiktok.com tumblr.com twitter.com ups.com usps.com "
    "weather.com weather.gov wikihow.com wikipedia.org x.com yahoo.com",
    "News": "aljazeera.com apnews.com bbc.co.uk bbc.com bloomberg.com chronicle.com cnn.com foxnews.com nytimes.com "
    "phys.org reuters.com theguardian.com washingtonpost.com",
    "Legal & Government Services": "dmv.org superlawyers.com www.gov.uk",
    "Real Estate": "apartments.com compass.com landwatch.com publicstorage.com realtor.com redfin.com remax.com "
    "rent.com student.com trulia.com zillow.com",
    "Finance & Investment": "americanexpress.com bankrate.com cboe.com chase.com coinmarketcap.com fidelity.com "
    "finance.yahoo.com investing.com marketwatch.com nerdwallet.com nyse.com sec.gov smartasset.com tradingview.com "
    "xe.com",
}
_SUFFIXES = {".edu": "Education & Learning", ".gov": "Legal & Government Services"}
SITES = {site: subdomain for subdomain, sites in _SITES.items() for site in sites.split()}
"""The subdomain of well-known sites, by site or by host."""


def domain_of(task: Task) -> str:
    """One of `TAXONOMY`, or what the set says; the kind of an embedded site; `UNKNOWN` where nothing says it."""
    return _column(task, DOMAIN) or DOMAIN_OF.get(subdomain_of(task), "") or task.kind or UNKNOWN


def subdomain_of(task: Task) -> str:
    """As `domain_of`."""
    host, site = task.website.lower().removeprefix("www."), site_of(task.website)
    by_suffix = next((subdomain for suffix, subdomain in _SUFFIXES.items() if site.endswith(suffix)), "")
    known = SITES.get(host) or SITES.get(site) or by_suffix
    return _column(task, SUBDOMAIN) or known or task.kind or UNKNOWN


def _column(task: Task, name: str) -> str:
    said = task.metadata.get(name)
    return said if isinstance(said, str) else ""
