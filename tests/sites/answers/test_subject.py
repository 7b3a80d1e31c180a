"""Answers about things that have more values than the one asked for, and rivals."""

from datetime import date as Date
from typing import Any

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.values import any_order, date, in_order, missing, number, refused, text, winner

WIDTH = "What is the width of Fancy Island?"
ISLAND = Subject(
    names=("Fancy Island",),
    told=("Region South", "South", "Fee $14", "$14", "Year 1448", "Author Ada Brook", "Ada Brook"),
    asked=("Width", "width"),
    labels=("Region", "Fee", "Year", "Height", "Author", "Founded"),
    values={"Fancy Island": frozenset({"14", "1448", "300", "@2025-01-19", "2025"})},
    rivals=("Rough Island",),
)
COUNT = "How many threads in Guides have at least 20 replies and a score of at least 100?"
THREADS = Subject(
    names=("A", "B"), asked=("thread", "threads"), labels=("Reply count", "Score", "Board"), rivals=("Swap Shop",)
)
CHEAPEST = "What are the names of the three cheapest permits for at most $120, cheapest first?"
PERMITS = Subject(
    names=("Boat permit", "Tree permit", "Film permit"),
    told=("Fee $2", "$2", "Fee $5", "$5", "Fee $8", "$8"),
    asked=("permit", "permits"),
    labels=("Fee", "Opened"),
    values={
        "Boat permit": frozenset({"2", "@2020-05-15", "2020"}),
        "Tree permit": frozenset({"5", "@2021-08-20", "2021"}),
        "Film permit": frozenset({"8", "@2022-11-06", "2022"}),
    },
    rivals=("Fish permit",),
)
ORDER = in_order(["Boat permit", "Tree permit", "Film permit"])
HIGHER = "Which has the higher rating: the quietest place in Hopfields or the oldest place?"
PLACES = Subject(names=(), asked=("Rating", "rating"), labels=("Visitors a day", "Since"), rivals=("Stone Museum",))
BETTER = winner(
    [("Velvet Crumb", "the quietest place in Hopfields"), ("Astra Club", "the oldest place")], 0, (64, 40), "%"
)
MOST = "Which section had the most comments in May 2026?"
SECTIONS = winner([("Letters",), ("Business",), ("Travel",)], 0, (867, 777, 12))
REPORTS = Subject(rivals=("Views", "June 2026"))
LOOK = "Open “Why children like brass huts”, please."
HUTS = missing("Why children like brass huts")
EDIT = "Delete “A week among games”, please."
LOCKED = refused("locked by the legal team")
GAMES = Subject(names=("A week among games",), rivals=("Letters about games",))
ARCHIVE = "Archive “A week among games”."
ARCHIVED = refused("already in the archive")
STAY = "Book 12 nights at Station Court for Hugo Field."
BOOKED = refused("fully booked")
COURT = Subject(names=("Station Court",), rivals=("Grand Rooms",))
EVENT = "What is the day of the event of “Archive workshop”?"
WORKSHOP = Subject(
    names=("Archive workshop",),
    told=("Size 475 KB", "475 KB"),
    asked=("Event", "day of the event"),
    labels=("Date", "Size"),
    values={"Archive workshop": frozenset({"475", "@2025-01-19", "2025"})},
)

RIGHT: list[tuple[dict[str, Any], str, Subject, list[str]]] = [
    (
        number(618), WIDTH, ISLAND,
        ["Fancy Island (South, 1448), width 618.", "It costs $14, its region is South, and the width is 618.",
         "Width: 618\nFee: $14", "618 (year: 1448)", "It was founded in 1448. Its width is 618.",
         "The width is 618, but it is $14", "six hundred and eighteen", "You should say 618."],
    ),
    (
        number(20), COUNT, THREADS,
        ["12 on the first page + 8 on the second page = 20", "Page 1 shows 12 threads, page 2 shows 8, so in total 20.",
         "Two pages with 8 and a last page with 4 threads: 20 threads.", "20 (12 on page 1 and 8 on page 2)",
         "There are 20 threads on 2 pages.", "20 threads have 20 replies or more and a score of 100 or more",
         "I set two filters. 20", "4 × 4 + 4 = 20", "{\"threads\": 20}", "Score ≥ 100, so 20 threads"],
    ),
    (
        number(41), COUNT, THREADS, ["There are 41, with ≥ 20 replies", "41 in Guides with 20+ replies"],
    ),
    (
        ORDER, CHEAPEST, PERMITS,
        ["1. Boat permit – $2.00\n2. Tree permit – $5.00\n3. Film permit – $8.00",
         "Boat permit is the cheapest at 2 dollars, followed by Tree permit at 5 dollars and Film permit at 8 dollars.",
         "| Permit | Fee |\n|---|---|\n| Boat permit | $2 |\n| Tree permit | $5 |\n| Film permit | $8 |",
         "$2: Boat permit\n$5: Tree permit\n$8: Film permit",
         "{\"1\": \"Boat permit\", \"2\": \"Tree permit\", \"3\": \"Film permit\"}",
         "Boat permit (opened 15 May 2020), Tree permit (20 August 2021) and Film permit (6 November 2022)",
         "Boat permit, opened in May 2020; Tree permit, in August 2021; Film permit, in November 2022",
         "I set a fee of at most $120: Boat permit, Tree permit, Film permit",
         "- cheapest: Boat permit\n- 2nd: Tree permit\n- 3rd: Film permit"],
    ),
    (
        BETTER, HIGHER, PLACES,
        ["The former.", "The first one, with 64 %", "The quietest place in Hopfields",
         "Velvet Crumb (64 %) > Astra Club (40 %)",
         "Astra Club (40 %) < Velvet Crumb (64 %)", "Velvet Crumb has a rating that is 24 percentage points higher",
         "The oldest place is Astra Club, 40 %. The quietest place is Velvet Crumb, 64 %. So: Velvet Crumb.",
         "The first one, Velvet Crumb, is rated higher than the second one, Astra Club.",
         "Velvet Crumb — 64 % vs. 40 % for Astra Club", "Not Astra Club (40 %) but Velvet Crumb (64 %).",
         "Velvet Crumb is rated 64 %, Astra Club 40 %.", "It's close, but Velvet Crumb is better.",
         "Between Astra Club and Velvet Crumb, the latter.", "Velvet Crumb is the answer: 64 %",
         "Astra Club 40 %, Velvet Crumb 64 % → Velvet Crumb"],
    ),
    (
        SECTIONS, MOST, REPORTS,
        ["Letters (867), then Business (777).", "1. Letters (867)\n2. Business (777)", "Letters rather than Business.",
         "Letters has 867, Business has 777; the former is higher.",
         "Letters had 867 comments in May 2026, 90 more than Business.",
         "Most comments, May 2026: Letters (867); runner-up: Business (777)", "Letters led Business by 90 comments.",
         "Business was second with 777 comments. The first is Letters with 867.", "In May. 2026 Letters had 867"],
    ),
    (
        HUTS, LOOK, Subject(),
        ["No article with that title exists.", "Doesn't exist.", "I searched for it, but there is no such article.",
         "None of the results is “Why children like brass huts”. **Conclusion:** it does not exist, "
         "so I could not open it.",
         "Not possible. I searched the title and such an article isn't there.", "0 results", "It isn't on the site.",
         "I couldn't open the article as there is none with this name.", "Thread missing. Cannot be opened."],
    ),
    (
        LOCKED, EDIT, GAMES,
        ["I couldn't delete it; the legal team has locked the article.", "Legal has locked this article.", "Locked.",
         "There is a lock from the legal team on it, so it can not be deleted.",
         "Result: **not possible**. It is locked.",
         "{\"done\": false, \"reason\": \"locked by the legal team\"}"],
    ),
    (
        ARCHIVED, ARCHIVE, GAMES,
        ["It's already archived.", "Impossible - it is in archive", "no can do, it's archived already",
         "I can't archive it because it's in the archive already."],
    ),
    (
        BOOKED, STAY, COURT,
        ["The hotel is fully booked. No reservation has been made for Hugo Field.", "Station Court is booked out.",
         "Station Court is full, so the stay cannot be arranged.",
         "Status: failed\nHotel: Station Court\nReason: fully booked",
         "Station Court is marked fully booked, so it isn't possible."],
    ),
    (
        date(Date(2025, 2, 12)), EVENT, WORKSHOP,
        ["“Archive workshop” (475 KB), sent on 19 January 2025; the event is on 12 February 2025.",
         "I opened it (Archive workshop, 19 January 2025). The day of the event is **12 February 2025**."],
    ),
    (text("12:00"), "When does it open?", Subject(), ["noon", "12 noon"]),
    (text("9:30"), "When does it open?", Subject(), ["9.30 am"]),
    (text("555-9573"), "What is its telephone number?", Subject(), ["tel. 555-9573", "555 9573", "Phone: 5559573"]),
    (text("Stuart Wright"), "Who took the picture?", Subject(),
     ["Photo: Stuart Wright", "You should say “Stuart Wright”."]),
    (number(7, "days"), "How long does it take?", Subject(), ["1 week (7 days)", "One week"]),
    (number(25409), "How many visitors?", Subject(), ["25 409", "9,055 + 727 + 8,942 + 6,685 = 25,409"]),
    (text("The puppet show"), "Which article is it?", Subject(), ["Puppet show"]),
]  # fmt: skip

WRONG: list[tuple[dict[str, Any], str, Subject, list[str]]] = [
    (
        number(618), WIDTH, ISLAND,
        ["The height of Fancy Island is 618.", "Height: 618", "Width 1448, height 618", "618 to 1448", "618, or 1448",
         "618 points or 300", "618. Actually, it is 300.", "618 is what another says", "It used to be 618",
         "618 fee", "before 618", "Any number but 618", "Rough Island: 618",
         "618 stars, says the author of Rough Island"],
    ),
    (
        number(20), COUNT, THREADS,
        ["20 replies", "20 days", "20 or more", "At least 20", "20 on page 1 and 5 on page 2",
         "20 threads in Swap Shop",
         "Page 1 shows 12, page 2 shows 8, so 21", "20 or 21"],
    ),
    (number(1), COUNT, THREADS, ["At least one", "one or two"]),
    (
        ORDER, CHEAPEST, PERMITS,
        ["Boat permit ($8), Tree permit ($5), Film permit ($2)",
         "Boat permit, Tree permit, Film permit, Five tips for wood",
         "Boat permit 7, Tree permit, Film permit", "$8: Boat permit\n$5: Tree permit\n$2: Film permit",
         "Boat permit, Tree permit", "Boat permit, Film permit, Tree permit", "Boat permit, Tree permit, Fish permit"],
    ),
    (
        BETTER, HIGHER, PLACES,
        ["The latter.", "The second one", "The oldest place", "Velvet Crumb has more visitors a day.",
         "Velvet Crumb is quicker.",
         "Velvet Crumb is the quietest of both.", "Astra Club 40 %, Velvet Crumb 64 %",
         "Velvet Crumb (40 %) > Astra Club (64 %)",
         "Velvet Crumb 64 %, Astra Club 40 % → Astra Club", "Between Velvet Crumb and Astra Club, the latter.",
         "Stone Museum", "Velvet Crumb or Astra Club"],
    ),
    (
        SECTIONS, MOST, REPORTS,
        ["Letters had the fewest comments.", "Letters had fewer comments than Business.", "Letters had the most views.",
         "Letters had the most comments in June 2026.", "Business, then Letters", "Letters was second",
         "1. Business\n2. Letters",
         "Letters is beaten by Business.", "Letters has 867, Business has 777; the latter is higher."],
    ),
    (
        HUTS, LOOK, Subject(),
        ["Why children like brass huts", "I don't know why children like brass huts.",
         "Opened “Why children like brass huts”.",
         "“Why children like brass huts” is in the archive, so it can't be opened.",
         "No, children do not like brass huts.",
         "The site did not load, so I could not open “Why children like brass huts”.",
         "There is no article about tin huts.",
         "It is not true that “Why children like brass huts” doesn't exist: I found its page.", "Impossible.", "None",
         "“Why children like brass huts” exists, but I was unable to click on it.", "Maybe there is no such article.",
         "I could not find “Why children like brass huts”, so I opened the page of another one."],
    ),
    (
        LOCKED, EDIT, GAMES,
        ["It cannot be deleted.", "The article is not locked.", "It does not exist.", "It is locked, but I deleted it.",
         "Letters about games is locked.", "I have no permission to delete it.", "It might be locked.",
         "It could be locked.", "I did it although it is locked.", "It is no longer locked.",
         "If it is locked, I can't do it.", "Either it is locked or it does not exist.", "Tin is locked."],
    ),
    (
        ARCHIVED, ARCHIVE, GAMES,
        ["Archived.", "The article wasn't in the archive yet; it is now.", "I archived it.",
         "I have no permission to archive."],
    ),
    (
        BOOKED, STAY, COURT,
        ["I booked it.", "Fully booked! Hugo Field's stay is confirmed.", "Station Court isn't fully booked.",
         "Booked, impossible: fully booked", "The form gave a server error: fully booked",
         "Grand Rooms is fully booked.",
         "It is temporarily fully booked", "Station Court is fully booked at 11:30"],
    ),
    (date(Date(2025, 2, 12)), EVENT, WORKSHOP, ["19 January 2025", "12 February 2025 or 19 January 2025",
    "12 February 2026"]),
    (text("Stuart Wright"), "Who took the picture?", Subject(labels=("Author",)), ["Stuart Wright is the author."]),
    (text("Archive"), "Which folder is it in?", Subject(), ["Any folder but Archive", "It used to be Archive"]),
]  # fmt: skip


def table(rows: list[tuple[dict[str, Any], str, Subject, list[str]]]) -> list[tuple[dict[str, Any], str, Subject, str]]:
    return [(wanted, question, subject, answer) for wanted, question, subject, answers in rows for answer in answers]


@pytest.mark.parametrize(("wanted", "question", "subject", "answer"), table(RIGHT))
def test_what_else_is_true_may_be_told(wanted: dict[str, Any], question: str, subject: Subject, answer: str) -> None:
    assert says(wanted, answer, question, subject)


@pytest.mark.parametrize(("wanted", "question", "subject", "answer"), table(WRONG))
def test_what_is_told_of_something_else_is_wrong(
    wanted: dict[str, Any], question: str, subject: Subject, answer: str
) -> None:
    assert not says(wanted, answer, question, subject)


def test_names_may_be_told_in_any_order_where_none_is_asked() -> None:
    said = "Film permit ($8), Boat permit ($2) and Tree permit ($5)"
    assert says(any_order(["Boat permit", "Tree permit", "Film permit"]), said, CHEAPEST, PERMITS)


VOTES = Subject(
    names=("Slow page",), told=("Created 5 March 2026",), asked=("Votes", "number of votes"), labels=("Created",)
)


def test_a_label_that_the_question_repeats_is_still_another_one() -> None:
    question = "What is the number of votes of the issue created on 5 March 2026?"
    assert says(number(0), "The number of votes of Slow page is 0.", question, VOTES)
    assert says(number(0), "The issue created on 5 March 2026 is Slow page, and it has 0 votes.", question, VOTES)
    assert not says(number(0), "The created of Slow page is 0.", question, VOTES)


def test_that_something_else_does_not_exist_says_nothing_of_the_thing() -> None:
    wanted, question = missing("Proud owner of a stone"), "Open “Proud owner of a stone”."
    site = Subject(rivals=("Wanted: an oak board", "Proud owner of a ladder"))
    assert says(wanted, "There is no Proud owner of a stone on this site.", question, site)
    assert says(wanted, "Not found. The closest is Proud owner of a ladder.", question, site)
    assert not says(wanted, "There is no Wanted: an oak board on this site.", question, site)
    assert not says(wanted, "There is no “Proud owner of a ladder” on this site.", question, site)


@pytest.mark.parametrize("said", ["Knapp, Earl", "Mr. Earl Knapp", "It is Dr. Earl Knapp.", "Earl Knapp"])
def test_people_are_named_with_a_title_or_the_last_name_first(said: str) -> None:
    subject = Subject(names=("Slow page",), asked=("Author",), rivals=("Tiffany Armstrong", "Tiffany Knapp"))
    assert says(text("Earl Knapp"), said, "Who is the author of Slow page?", subject)
    wrong = said.replace("Earl", "Tiffany")
    assert not says(text("Earl Knapp"), wrong, "Who is the author of Slow page?", subject)
