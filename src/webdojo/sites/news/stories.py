"""What newspapers write about: sections with their headlines and texts, and the lists that fill the gaps."""

from __future__ import annotations

from webdojo.sites.content.words import items

_GAPS = {
    "body": "council, school board, mayor, planning office, harbour office, district court, transport board",
    "place": "library, swimming pool, old bridge, town square, railway station, hospital, market hall, bus "
    "depot, cinema, lighthouse, city park, ferry dock, bike path, water tower",
    "deed": "close, repair, sell, repaint, move, reopen, name, widen, protect, light up",
    "firm": "bakery, shipyard, start-up, brewery, printer, paper mill, bank, florist, garage, toy maker, "
    "dairy, bookshop",
    "good": "bread, bicycles, solar roofs, wooden toys, tea, cheese, ferries, phone cases, beer, glass, "
    "umbrellas, boots",
    "team": "Rovers, Eagles, Harbour Club, Wanderers, Falcons, Blues, Mariners, Foxes, Rowing Club, Juniors",
    "match": "cup final, season opener, home game, replay, charity run, regatta, marathon, night race, derby, relay",
    "mood": "surprising, quiet, bitter, late, clear, lucky, brave, narrow, well-earned, strange",
    "art": "novel, play, opera, exhibition, film, album, mural, festival, puppet show, photo series, radio "
    "drama, musical",
    "idea": "winter, the sea, silence, old age, a lost dog, trains, bees, night shifts, sisters, maps, bread, rain",
    "finding": "bees, old trees, sea grass, bats, street lights, batteries, glaciers, tides, moss, owls, sleep, soil",
    "who": "nurses, teachers, pensioners, students, drivers, farmers, shop owners, parents, volunteers, commuters",
    "dish": "lentil soup, apple cake, fish stew, rye bread, pumpkin pie, plum jam, onion tart, dumplings, pea salad",
}
GAPS = {gap: items(text) for gap, text in _GAPS.items()}

HEADLINES = {
    "Local": (
        "{town} {body} wants to {deed} the {place}",
        "Neighbours in {town} fight for the {place}",
        "Why the {place} in {town} is still closed",
        "A new start for the {place} in {town}",
        "{town} asks its {who} what to do with the {place}",
    ),
    "Business": (
        "{town} {firm} bets on {good}",
        "How a small {firm} from {town} came to sell {good}",
        "The {firm} that gave up {good}",
        "{Who} buy a {firm} in {town}",
        "Prices of {good} rise again, says {firm} in {town}",
    ),
    "Sports": (
        "{town} {team} celebrate a {mood} win in the {match}",
        "{Mood} end to the {match} in {town}",
        "{team} before the {match}: a {mood} mood",
        "Rain stops the {match} in {town}",
        "The {who} who cheer for the {town} {team}",
    ),
    "Culture": (
        "A {mood} {art} about {idea}",
        "{town} shows an {adjective} {art} about {idea}",
        "The {art} that grew out of {idea}",
        "What {who} see in a {art} about {idea}",
        "{Idea} on stage: a {art} comes to {town}",
    ),
    "Science": (
        "What {finding} can tell us about {idea}",
        "Researchers in {town} listen to {finding}",
        "A {mood} answer to an old question about {finding}",
        "{Finding} do better near {town}",
        "{Who} count {finding} for science",
    ),
    "Travel": (
        "By slow train from {town} to {other}",
        "A {mood} weekend in {town}",
        "Where {who} from {town} go in summer",
        "On foot from the {place} in {town} to {other}",
        "{town} beyond the {place}",
    ),
    "Food": (
        "The secret of {town} {dish}",
        "{Dish} the way {who} like it",
        "Who makes the best {dish} in {town}?",
        "{Dish} with a {mood} twist",
        "A {firm} that serves {dish} all night",
    ),
    "Opinion": (
        "Let us {deed} the {place} at last",
        "In praise of {finding}",
        "Listen to the {who} of {town}",
        "The {body} is wrong about the {place}",
        "We need to talk about {idea} and {finding}",
    ),
}
"""Headlines by section."""
TEXTS = {
    "Local": (
        "The plan was made public on Monday evening, and the hall was full to the last seat.",
        "People who live nearby say that they were never asked.",
        "Work could begin as soon as the money is found, and that may take a while.",
        "A meeting for everybody is planned, with coffee and, one hopes, patience.",
    ),
    "Business": (
        "The owners speak of a difficult year and of reasons to hope.",
        "Orders come from far away, but the work is still done in the old building.",
        "Experts had expected less, and competitors had hoped for it.",
        "Nobody lost a job, and the canteen is as good as ever.",
    ),
    "Sports": (
        "The stands were full, and the drums could be heard across the river.",
        "The coach praised the team and asked for patience.",
        "It was decided late, as so often this season.",
        "Afterwards there was soup for everybody, winners and losers alike.",
    ),
    "Culture": (
        "It begins slowly, and one is glad of it later.",
        "The audience laughed in the right places and was silent in the others.",
        "There is little on the stage: a chair, a lamp and a great deal of courage.",
        "Tickets are hard to get, but it is worth asking at the door.",
    ),
    "Science": (
        "The study was small, and the authors say so themselves.",
        "For years nobody had looked, because nobody thought that there was anything to see.",
        "The next step is to repeat it elsewhere, with better weather.",
        "The instrument was built in a garage and fits into a shoe box.",
    ),
    "Travel": (
        "Bring good shoes and an umbrella, and leave the car at home.",
        "The best view is free and hard to find; ask at the bakery.",
        "In the evening the streets belong to the people who live there.",
        "Rooms are simple, windows are large and breakfast is long.",
    ),
    "Food": (
        "Start early, use the big pot and invite somebody who likes to stir.",
        "Everyone in town has a recipe, and everyone says that the others are wrong.",
        "It tastes better on the next day, if there is any left.",
        "Good butter helps, as it always does.",
    ),
    "Opinion": (
        "I know that many readers will not agree, and I look forward to their letters.",
        "It would cost little and change a lot.",
        "We have talked about this for long enough.",
        "Nobody has to be right in the end, but somebody has to begin.",
    ),
}
"""What articles say, by section."""
ADJECTIVES = items("open, angry, unusual, elegant, early, honest, icy, old-fashioned")
"""Words that take `an` as their article."""
COMMENTS = (
    "Finally somebody says it.",
    "My aunt lives there, and she tells it differently.",
    "Well written, thank you.",
    "I would have liked to read more about the costs.",
    "We were there. It rained.",
    "This is what I pay my subscription for.",
    "And who is going to clean it all up?",
    "A bit long, but I stayed to the end.",
    "Please send a reporter to our street as well.",
)
POLLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Should the town centre be free of cars?", ("Yes, always", "Only on weekends", "No", "No opinion")),
    ("How do you read the news?", ("On paper", "On the phone", "On a computer", "I listen to it")),
    ("What should we write more about?", ("Schools", "Trains", "Gardens", "Sports")),
    ("When should shops close?", ("Early", "As they do now", "Late", "Never")),
    ("Where do you spend the summer?", ("At home", "By the sea", "In the hills", "Abroad")),
)
"""Questions to the readers, with the answers on offer."""
