"""Names in scripts with capital letters: runs of capitalised words, judged by form and surroundings.

A capital says little at the start of a sentence, so there only known names count, or runs that
end like a place or an organisation.  Headings and shouting capitalise everything and are
passed over.  Where a text holds no such name at all, well-known names are also taken in lower
case, as people type their questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hy_memory.text.entity import TITLE, Entity, EntityKind, Mention, name_key
from hy_memory.text.gazetteer import (
    GIVEN_NAMES,
    PLACE_PHRASES,
    PLACES,
    WORDLY_NAMES,
    WORDLY_PLACES,
    names,
)
from hy_memory.text.normalize import fold

_UPPER = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x530) if chr(code).isupper())
_LETTER = "[^\\W_\u2e80-\uffff]"  # of a script that has capitals, or a digit; Han and Hangul end a word
_WORD = rf"(?:(?:{TITLE}|St|Mt|Ft|[A-Z])\.|[{_UPPER}](?:(?:[’'&-]|{_LETTER})*{_LETTER})?)"
_JOINT = r"(?: (?:of|of the|de|de la|del|van|van der|von|du|la|di|da|bin|ibn|al|&))? "
_RUN = re.compile(rf"(?<![@#./-])(?<!{_LETTER}){_WORD}(?:{_JOINT}{_WORD})*")
_POSSESSIVE = re.compile(r"['’]s?$")
_OWNER = re.compile(r"['’]s? $")
_INSIDE = re.compile(r"[\w,'’&/%)]$")  # what stands before a word inside a sentence
_HEADING = re.compile(r"^\s*#{1,6} .*$|\*\*[^*\n]+\*\*", re.MULTILINE)
_IS_TITLE = re.compile(rf"{TITLE}\.?\Z")

_ORGANISATION_END = names(
    "inc inc. ltd ltd. llc gmbh corp corp. corporation plc ag university college institute bank hospital "
    "clinic school academy foundation association society agency company group labs laboratories airlines "
    "airways studios orchestra council ministry department church museum library committee"
)
_ORGANISATION_START = re.compile(
    r"(?:University|Bank|Museum|Institute|Ministry|Department|Church|College|Academy) of "
)
_PLACE_END = names(
    "street st. avenue road lane boulevard square park lake river mountain mountains island islands beach "
    "bridge airport station valley bay canyon forest county city village castle palace cathedral hills falls "
    "harbor harbour garden gardens plaza mall"
)
_ENDINGS = _ORGANISATION_END | _PLACE_END
_PLACES = PLACES | WORDLY_PLACES
_PLACE_START = names("lake mount mt. mt st. fort port cape")
_PERSON_CUE = re.compile(
    r"\b(?:hey|hi|hello|thanks|thank you|dear|bye|named|called|name is|name's|sister|brother|friend|friends|"
    r"mom|mum|dad|mother|father|wife|husband|son|daughter|boss|colleague|coworker|neighbou?r|dog|cat|puppy|kitten|"
    r"partner|boyfriend|girlfriend|cousin|niece|nephew|roommate|therapist|mentor),? $",
    re.IGNORECASE,
)
_PERSON_VERB = re.compile(r" (?:said|says|told|asked|replied|texted|emailed|thinks|laughed|smiled)\b")
_PLACE_CUE = re.compile(
    r"\b(?:live[sd]?|living|born|mov(?:e|ed|ing)|travel(?:s|l?ed|l?ing)?|fl(?:y|ew|ying)|drove|driving|trip|vacation|"
    r"arriv(?:e|ed|ing)|stay(?:s|ed|ing)?|based|grew up|raised|relocat(?:e|ed|ing)|flights?|headed|went) "
    r"(?:back |over |out )?(?:to|in|from|near|around|through) (?:the )?$",
    re.IGNORECASE,
)
_NEVER = names(
    """
i i'm i've i'd i'll ok okay am pm tv pc cd dvd lol lmao omg btw fyi asap diy imo imho idk tbh faq eta id
ps rip brb monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
fridays saturdays sundays mon tue wed thu fri sat sun january february march april may june july august
september october november december jan feb mar apr jun jul aug sep sept oct nov dec tues thurs world god
lord jesus christ christmas halloween thanksgiving easter eve valentine's new year's spring summer autumn
fall winter mom dad mum mommy daddy grandma grandpa granny aunt uncle sir madam mr mrs ms dr prof internet
web english french german spanish italian chinese japanese korean russian arabic portuguese dutch greek
turkish polish swedish american british european african asian indian mexican canadian australian irish
scottish indigenous black white step note example section part chapter day week month year total time date
name email phone
"""
)
"""Capitalised words that name no particular thing: calendar, languages and peoples, chat, address."""
_OPENERS = names(
    """
a about above absolutely according across actually add additionally after again agreed ah all almost
already also although always amazing among an and another any anyway apart are around as ask at awesome aw
aww be because been before being believe below best better between big both but by bye call can can't
check choose cheers clearly come congrats congratulations consider cool could create currently cute dear
define definitely despite develop did didn't do does doesn't doing don't done down during each easy either
else enjoy ensure even ever every everyone everything exactly excellent except excited explore fair few
finally find first following for from fun funny further get give glad go going good got gotta great guess
guys ha haha had happy hard has have haven't having he he's hear hello help her here here's hey hi his hmm
hope hopefully how how's however huge i if imagine in include indeed instead interesting into is isn't it
it's its join just keep kind last lately later learn let let's like likewise little look looking looks
lots love loved lovely make makes many maybe me meanwhile meet mention more most much must my need never
new next nice no nope not nothing now of off oh old on once one only or other our out over overall people
perfect perhaps plan plans please plus possible practice prepare probably provide pretty question quite
read really recently regular remember research review right sad same save say see seems set several share
she she's should show simply since so some someone something sometimes soon sorry sounds start still stop
such super sure take talk tell thank thanks that that's the their them then there there's therefore these
they they're thing things think this those though thought through thus to today together tomorrow tonight
too totally totally true truly try turn two under understand unfortunately until up update upon us use
using very visit wait wanna want was wasn't watch way we we're we've welcome well were what what's
whatever when whenever where which while who who's whose why will wish with within without wonderful won't
work would wouldn't wow write yay yeah yep yes yesterday yet yo you you're your yup
"""
)
"""Words that open sentences; in front of a name they are no part of it."""
_NO_FIRST = _OPENERS | _NEVER
_NO_PART = names("""
i i'm i've i'd i'll the a an my our your his her their this that and or but monday tuesday wednesday
thursday friday saturday sunday january february march april may june july august september october
november december mom dad mum ok hey hi hello thanks dear
""")
"""Of those, what is no part of a name inside a sentence either."""
_LOWER_NAMES = (GIVEN_NAMES | PLACES) - names("""
joy mason randy marina viola turkey china chile phoenix georgia jordan montana ana ann jan jun min kim ken
max jose guy jean marty frankie leslie jerry york basel perth jenny mina mila morgan clemens nina mali rio
riga bern oman peru cologne tara africa europe asia rita rosa pia otto eve
""")
"""Names that are hardly anything else in lower case."""
_LOWER = re.compile(r"(?<![\w@#./])[a-z]{3,14}(?![\w@/]|\.\w)")


def english_names(text: str) -> Iterator[Mention]:
    """Yield the names of capitalised scripts in normalised `text`, in order."""
    plain = _HEADING.sub(_blank, text) if "#" in text or "**" in text else text
    runs = [found for found in _RUN.finditer(plain) if found[0] not in ("I", "A")]
    has_found = False
    if runs and not _is_shouting(plain, runs):
        for found in runs:
            for mention in _mentions(plain, found):
                has_found = True
                yield mention
    if not has_found:
        yield from _lower_names(plain)


def _blank(found: re.Match[str]) -> str:
    return "\n" * len(found[0])


def _is_shouting(text: str, runs: list[re.Match[str]]) -> bool:
    """Return whether nearly every word is capitalised, as in a heading: then a capital says nothing."""
    capitals = sum(found[0].count(" ") + 1 for found in runs)
    if capitals > 6 and capitals > 0.8 * (text.count(" ") + 1):
        return True
    return text.isupper() and capitals > 1


def _mentions(text: str, run: re.Match[str]) -> Iterator[Mention]:
    start = run.start()
    for words in _pieces(run[0].split(" ")):
        piece = " ".join(words)
        end = start + len(piece)
        entity, offset = _judge(text, start, end, words)
        if entity is not None:
            yield Mention(entity, start + offset, end)
        start = end + 1


def _pieces(words: list[str]) -> Iterator[list[str]]:
    """Yield the words of a run, broken after an owner ("Maya's Pixel"), not in "St. Mary's Hospital"."""
    first = 0
    for place, word in enumerate(words[:-1]):
        is_owner = _POSSESSIVE.search(word) is not None and words[-1].lower() not in _ENDINGS
        is_office = word == "of" and _IS_TITLE.match(words[first]) is not None  # Dr. Moreau of Acme Inc.
        if is_owner or is_office:
            yield words[first : place + 1]
            first = place + 1
    yield words[first:]


def _judge(text: str, start: int, end: int, words: list[str]) -> tuple[Entity | None, int]:
    """Return the entity that `words` are, if any, and how many characters of them to leave out."""
    offset = 0
    is_first = not _is_inside(text, start)
    is_known = fold(" ".join(words)).removesuffix("'s") in PLACE_PHRASES  # "New York" opens with an opener
    while not is_known and words and _is_no_part(words[0], is_first, len(words) > 1):
        offset += len(words[0]) + 1
        words = words[1:]
        while words and words[0].islower():
            offset += len(words[0]) + 1
            words = words[1:]
    while words and (_plain(words[-1]).partition("-")[0] in _NEVER or words[-1].islower()):
        words = words[:-1]
    is_word = len(words) == 1 and not is_known and _is_no_part(words[0], is_first, False)
    if not words or is_word:
        return None, 0
    surface = _POSSESSIVE.sub("", " ".join(words))
    kind = _kind(surface, words, text[max(0, start + offset - 40) : start + offset], text[end : end + 12])
    if kind is EntityKind.OTHER and not _may_be_name(surface, words, is_first):
        return None, 0
    if is_first and kind is EntityKind.PERSON and len(words) == 1 and _plain(words[0]) in WORDLY_NAMES:
        return None, 0
    key = name_key(surface, kind)
    return (Entity(kind, surface, key) if len(key) > 1 else None), offset


def _is_no_part(word: str, is_first: bool, is_more: bool) -> bool:
    plain = _plain(word)
    if plain not in _NO_FIRST or _IS_TITLE.match(word):
        return False
    if is_first or not is_more:
        return plain not in WORDLY_NAMES or plain in _NEVER or is_first  # "we met Will"
    return plain in _NO_PART  # "World War II", "the New Orleans Saints" keep their first word


def _is_inside(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start]
    stripped = before.rstrip(" ")
    if not stripped:
        return False
    return _INSIDE.search(stripped) is not None


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word).lower().replace("’", "'") if len(word) > 2 else word.lower()


def _kind(surface: str, words: list[str], before: str, after: str) -> EntityKind:
    if _IS_TITLE.match(words[0]) and len(words) > 1:
        return EntityKind.PERSON
    if fold(surface).replace(".", "") in PLACE_PHRASES:
        return EntityKind.PLACE
    by_ending = _kind_by_ending(surface, words) if len(words) > 1 else None
    return (
        by_ending or _kind_by_list(surface, words, before) or _kind_by_context(surface, words, before, after)
    )


def _kind_by_ending(surface: str, words: list[str]) -> EntityKind | None:
    last = _plain(words[-1])
    if last in _ORGANISATION_END or _ORGANISATION_START.match(surface):
        return EntityKind.ORGANISATION
    return EntityKind.PLACE if last in _PLACE_END or _plain(words[0]) in _PLACE_START else None


def _kind_by_list(surface: str, words: list[str], before: str) -> EntityKind | None:
    first = fold(_POSSESSIVE.sub("", words[0])).partition("-")[0]  # Jean-Luc
    is_short_caps = surface.isupper() and len(surface) < 5  # EVA the foam
    if first in GIVEN_NAMES and len(words) < 5 and not is_short_caps:
        return EntityKind.PERSON
    if first in _PLACES and (len(words) == 1 or _plain(words[-1]) in PLACES):
        return EntityKind.PLACE
    # "Charlotte's Web", "the Philosopher's Stone": what somebody owns is a thing
    is_person = first in WORDLY_NAMES and len(words) < 4 and not surface.isupper()
    return EntityKind.PERSON if is_person and not _OWNER.search(before) else None


def _kind_by_context(surface: str, words: list[str], before: str, after: str) -> EntityKind:
    if surface.isupper() or len(words) > 3:
        return EntityKind.OTHER
    if _PERSON_CUE.search(before) or _PERSON_VERB.match(after):
        return EntityKind.PERSON
    return EntityKind.PLACE if _PLACE_CUE.search(before) else EntityKind.OTHER


def _may_be_name(surface: str, words: list[str], is_first: bool) -> bool:
    """Return whether words of no known kind may stand for one thing."""
    if len(words) == 1:
        is_acronym = surface.isupper() and 2 <= len(surface) <= 6
        return is_acronym or (len(surface) > 2 and not is_first and not surface.isupper())
    return not all(word.isupper() and len(word) > 1 for word in words) and len(words) < 7 and not is_first


def _lower_names(text: str) -> Iterator[Mention]:
    lowered = text.lower()
    if _LOWER_NAMES.isdisjoint(_LOWER.findall(lowered)):
        return
    for found in _LOWER.finditer(text):
        if found[0] in _LOWER_NAMES:
            kind = EntityKind.PERSON if found[0] in GIVEN_NAMES else EntityKind.PLACE
            yield Mention(Entity(kind, found[0], name_key(found[0], kind)), found.start(), found.end())
