"""The web site that a host belongs to, and what the site is about.

A site is what one owner registers: the public suffix (`co.uk`, `github.io`) and the label before it. The list of
suffixes is the one that the package `publicsuffixlist` ships; nothing is fetched. A host under no known suffix, such as
`shop-17.localhost` of the embedded web, ends in a suffix of one label, and an address in numbers is a site by itself.
"""

from __future__ import annotations

import ipaddress
from functools import cache, lru_cache
from typing import Any

from webdojo.types import Task

UNKNOWN = "unknown"
"""The domain of a task of which nothing says it."""

_SITES = {
    "shopping": "aliexpress.com amazon.com apple.com backcountry.com bathandbodyworks.com bestbuy.com "
    "bhphotovideo.com birkenstock.com costco.com craigslist.org dillards.com ebay.com etsy.com "
    "gamestop.com homedepot.com ikea.com jcpenney.com kohls.com lowes.com macys.com michaels.com "
    "microcenter.com nike.com nordstrom.com rei.com samsung.com sephora.com shopping.google.com "
    "speedo.com store.steampowered.com target.com temu.com ulta.com uniqlo.com us-appliance.com "
    "versus.com walmart.com wayfair.com zara.com",
    "travel": "aa.com airbnb.com amtrak.com booking.com budget.com carnival.com delta.com enterprise.com "
    "expedia.com flightaware.com flights.google.com greyhound.com hotels.com kayak.com marriott.com "
    "megabus.com mta.info nps.gov qatarairways.com recreation.gov rentalcars.com ryanair.com sixt.com "
    "spothero.com tourradar.com travelzoo.com trip.com tripadvisor.com united.com wanderlog.com",
    "maps": "mapquest.com maps.google.com openstreetmap.org",
    "food": "allrecipes.com cookpad.com doordash.com epicurious.com foodnetwork.com grubhub.com instacart.com "
    "macyswineshop.com opentable.com raisingcanes.com redbull.com resy.com seriouseats.com traderjoes.com "
    "ubereats.com wineaccess.com yelp.com",
    "news": "aljazeera.com apnews.com bbc.co.uk bbc.com bloomberg.com chronicle.com cnn.com foxnews.com "
    "nytimes.com phys.org reuters.com theguardian.com washingtonpost.com",
    "weather": "accuweather.com theweathernetwork.com weather.com weather.gov",
    "reference": "arxiv.org britannica.com cambridge.org dblp.org dictionary.com fandom.com iclr.cc jstor.org merriam- "
    "webster.com scholar.google.com statista.com wikihow.com wikipedia.org wolframalpha.com",
    "education": "coolmath4kids.com coursera.org edx.org instructure.com khanacademy.org student.com ted.com "
    "udacity.com udemy.com",
    "health": "americashealthrankings.org babycenter.com cdc.gov cvs.com drugs.com healthgrades.com healthline.com "
    "mayoclinic.org medicare.gov nih.gov webmd.com who.int",
    "finance": "americanexpress.com bankrate.com cboe.com chase.com coinmarketcap.com fidelity.com finance.yahoo.com "
    "investing.com marketwatch.com nerdwallet.com nyse.com sec.gov smartasset.com tradingview.com xe.com",
    "jobs": "amazon.jobs glassdoor.com indeed.com linkedin.com monster.com ycombinator.com ziprecruiter.com",
    "housing": "apartments.com compass.com landwatch.com publicstorage.com realtor.com redfin.com remax.com rent.com "
    "trulia.com zillow.com",
    "vehicles": "autotrader.com carfax.com cargurus.com carmax.com cars.com carvana.com edmunds.com kbb.com "
    "parkers.co.uk porsche.com tesla.com",
    "pets": "adoptapet.com akc.org petfinder.com",
    "sports": "espn.com fifa.com foxsports.com mlb.com nba.com nfl.com nhl.com sports.yahoo.com ufc.com",
    "entertainment": "9gag.com bandcamp.com boardgamegeek.com chess.com discogs.com disney.com eventbrite.com "
    "fandango.com goodreads.com ign.com imdb.com last.fm leagueoflegends.com netflix.com rottentomatoes.com "
    "seatgeek.com soundcloud.com spotify.com stubhub.com ticketmaster.com tvguide.com twitch.tv "
    "youtube.com",
    "services": "4shared.com bbb.org fedex.com mega.io superlawyers.com thumbtack.com ups.com usps.com verizon.com",
    "government": "dmv.org www.gov.uk",
    "technology": "github.com gitlab.com huggingface.co kaggle.com microsoft.com nvidia.com pypi.org sourceforge.net "
    "stackoverflow.com w3schools.com",
    "social": "facebook.com imgur.com instagram.com pinterest.com quora.com reddit.com tiktok.com tumblr.com "
    "twitter.com x.com",
    "search": "bing.com duckduckgo.com google.com yahoo.com",
}
_SUFFIXES = {".edu": "education", ".gov": "government"}
DOMAINS = {site: domain for domain, sites in _SITES.items() for site in sites.split()}
"""What well-known sites are about, by site or by host."""


@lru_cache(maxsize=100_000)
def site_of(host: str) -> str:
    """The site that a host name without port belongs to: `amazon.co.uk` of `www.amazon.co.uk`."""
    name = host.lower().rstrip(".")
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return _suffixes().privatesuffix(name) or name


@cache
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def domain_of(task: Task) -> str:
    """What a task's site is about: as the set says (the column `domain`), else as `DOMAINS` knows, else the kind of an
    embedded site; `UNKNOWN` where nothing says it."""
    said = task.metadata.get("domain")
    if isinstance(said, str) and said:
        return said
    host, site = task.website.lower().removeprefix("www."), site_of(task.website)
    by_suffix = next((domain for suffix, domain in _SUFFIXES.items() if site.endswith(suffix)), "")
    return DOMAINS.get(host) or DOMAINS.get(site) or by_suffix or task.kind or UNKNOWN
