"""First-person statements in English: which words make which claim.

A pattern runs from the subject to the end of the value, so that whatever stands between ("my
sister lives", "I don't live", "I want to live") breaks it; what makes a whole sentence
something else (a question, a dream, somebody's words) is looked for around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hy_memory.profile.claim import BasicField, Claim
from hy_memory.text.gazetteer import GIVEN_NAMES, PLACE_PHRASES, PLACES, WORDLY_NAMES, WORDLY_PLACES, names
from hy_memory.text.normalize import fold
from hy_memory.text.numerals import ENGLISH_NUMBER, english_number

_SENTENCE = re.compile(
    r"(?:[^.!?;\n]|(?<=\bSt)\.|(?<=\bMt)\.|(?<=\bDr)\.|(?<=\b[A-Z])\.(?= [A-Z])|\.(?=\w))+[.!?;]*"
)
# Before the statement: no statement of fact, or not the speaker's.
_UNREAL = re.compile(
    r"\b(?:if|wish(?:ed)?|imagin\w+|suppos\w+|pretend\w*|as though|whether|unless|would|should|could|might|"
    r"maybe|perhaps|dream\w*|hop(?:e|ed|ing)|want\w*|plan\w*|when|once|until|before|says?|said|saying|told|"
    r"tells?|ask(?:s|ed)?|wrote|writes|thinks|thought|believes?|claims?|assum\w+|not|never|"
    "don't|didn't|isn't|"
    r"character|role|song|lyrics)\b",
    re.IGNORECASE,
)
_LONG_AGO = re.compile(
    r"\b(?:back then|back when|at (?:the|that) time|in those days|when I was|as a (?:kid|child|teen\w*)|"
    r"growing up)\b",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"[\"“”«»]|(?<!\w)'|'(?!\w)")

_CAPITAL = r"(?-i:[A-Z][\w'&-]*)"
_NAME_WORD = r"(?-i:[A-Z][\w'-]+|[A-Z]\.)"
_NAME = rf"{_NAME_WORD}(?: (?:(?:de|da|di|van|von|der|del|la|al|bin|du) ){{0,2}}{_NAME_WORD}){{0,3}}"
_PROPER = rf"(?:St\. )?{_CAPITAL}(?: (?:(?:of|the|de|&) ){{0,2}}(?:St\. )?{_CAPITAL}){{0,5}}"
_PLACE = (
    rf"(?:the )?(?:(?:St\. )?{_CAPITAL}(?: (?:(?:de|upon|of|la|sur) )?{_CAPITAL}){{0,3}}"
    rf"(?:, {_CAPITAL}(?: {_CAPITAL})?)?|(?-i:[a-z]{{3,}}(?: [a-z]{{3,}}){{0,2}}?))"
)
_WORDS = r"[a-z][\w/&'-]*(?: [\w/&'-]+){0,4}?"
_NUMBER = rf"(?:{ENGLISH_NUMBER})\b"
_AM = r"\b(?:I'm|I am)"
_NOW = r"(?: (?:now|currently|actually|also|still|just|recently|already|officially|finally|both|originally))*"
_HAVE = r"(?: have|'ve)?"
_STOP = r"(?=\s*(?:$|[.,;:!()\n–—]|(?:and|but|now|too|so|here|by the way|btw|today|these days|right now)\b))"
_END = (
    rf"(?:{_STOP}|(?= (?:at|for|in|with|from|by|since|who|while|on|because|as|to|near|this|last|when|after|"
    r"before|again|until|about|where|which|though|although|next|over|during|every|then|back)\b))"
)
_AGE_END = r"(?=\s*(?:$|\.(?!\d)|[;:!()\n–—]|,(?! \d)|(?:and|but|now|today|already)\b))"

_OCCUPATIONS = names("""
accountant actor actress actuary administrator advisor agent analyst anaesthetist animator archaeologist
architect archivist artist assistant astronaut astronomer attorney auditor author baker banker barber
barista bartender biologist blogger bookkeeper botanist broker builder butcher captain caregiver caretaker
carpenter cartographer cashier chef chemist clerk coach coder composer conductor consultant contractor
coordinator copywriter counselor courier curator dentist designer detective developer dietitian diplomat
director doctor driver ecologist economist editor educator electrician engineer entrepreneur farmer
filmmaker firefighter fisherman florist freelancer gardener geologist hairdresser historian housekeeper
illustrator instructor interpreter investigator investor janitor jeweler journalist judge lawyer lecturer
librarian lifeguard linguist logistician machinist manager marketer masseur mathematician mechanic
meteorologist midwife miner model musician nanny neurologist nurse nutritionist officer optician
orthodontist painter paralegal paramedic pastor pathologist pediatrician pharmacist philosopher
photographer physician physicist physiotherapist pianist pilot plumber podcaster police policeman
politician porter postman potter principal producer professor programmer psychiatrist psychologist
publicist radiologist realtor receptionist recruiter reporter researcher retiree sailor salesman
salesperson scientist sculptor secretary singer soldier specialist stylist statistician student surgeon
surveyor tailor teacher technician technologist tester therapist trader trainer translator tutor vet
veterinarian waiter waitress welder writer zoologist
""")
_QUALITIES = names("""
good great terrible bad better best worse huge big lazy fake real true natural born total bit kind sort
such very quick fast slow careful decent horrible amazing would-be aspiring future wannabe former ex
retired failed fellow crazy proud happy nervous not
""")
_NO_PLACES = names("""
i monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december python linux mac windows aws azure gcp slack notion react vue
rust kubernetes postgres postgresql mysql github gitlab gmail teams zoom discord obsidian linear jira
typescript javascript java english german french spanish fear peace harmony hell heaven paradise mom dad
""")
_KNOWN_PLACES = PLACES | WORDLY_PLACES | PLACE_PHRASES


def _name(value: str) -> str:
    """Return a name as given after "my name is": capitalised, or known and then capitalised by us."""
    first = fold(value.partition(" ")[0])
    if value[0].isupper():
        return "" if first in _QUALITIES | _NO_PLACES or first in ("the", "on", "my", "a") else value.strip()
    return value.title() if first in GIVEN_NAMES and " " not in value else ""


def _known_name(value: str) -> str:
    first = fold(value.partition(" ")[0])
    is_name = first in GIVEN_NAMES | WORDLY_NAMES and not value.isupper() and not value.endswith("'s")
    return value if is_name else ""


def _age(value: str) -> str:
    number = english_number(value)
    return str(number) if number is not None and 3 <= number <= 115 else ""


def _place(value: str) -> str:
    place = value.removeprefix("the ").strip()
    folded = fold(place)
    if place[:1].isupper():
        is_thing = folded.partition(" ")[0] in _NO_PLACES or (place.isupper() and len(place) > 3)
        return "" if is_thing or any(character.isdigit() for character in place) else place
    return place.title() if folded in _KNOWN_PLACES else ""


def _known_place(value: str) -> str:
    place = _place(value)
    return place if fold(place.partition(",")[0]) in _KNOWN_PLACES else ""


def _job(value: str) -> str:
    words = value.split()
    is_owner = any(word.endswith(("'s", "s'")) for word in words)
    return "" if is_owner or words[0].lower() in _QUALITIES else value


def _known_job(value: str) -> str:
    head = value.partition(" of ")[0].split()[-1].lower()
    return _job(value) if head in _OCCUPATIONS else ""


def _employer(value: str) -> str:
    folded = fold(value)
    return "" if folded in _NO_PLACES or folded in _KNOWN_PLACES or folded == "home" else value.strip()


_AT = rf" (?:at|for|with) (?:the )?(?P<value>{_PROPER}){_END}"
_WHERE = rf"(?P<value>{_PLACE}){_END}"
_PERSON = rf"(?P<value>{_NAME})"
_JOB = rf"an? (?P<value>{_WORDS}){_END}"
_YEARS = rf"(?P<value>{_NUMBER})"
_OLD = r"(?:years? old|years? of age|yrs? old|y/?o)\b"
_FROM = rf"(?: back| over| here| from {_CAPITAL}(?: {_CAPITAL})?)?"
_FIRM = rf"(?:the )?(?P<value>{_PROPER})"

_NOW_TRUE: tuple[tuple[BasicField, Callable[[str], str], tuple[str, ...]], ...] = (
    (
        BasicField.NAME,
        _name,
        (
            rf"\bmy (?:full |real |first |given )?name(?:'s| is){_NOW} (?P<value>{_NAME}|[a-z]{{3,12}})"
            f"{_END}",
            rf"\b(?:everyone|people|friends|they all) calls? me {_PERSON}{_STOP}",
            rf"\b(?:you can|please|just) call me {_PERSON}{_STOP}",
        ),
    ),
    (BasicField.NAME, _known_name, (rf"{_AM}{_NOW} {_PERSON}(?:{_STOP}|(?= from\b))",)),
    (
        BasicField.AGE,
        _age,
        (
            rf"{_AM}{_NOW} {_YEARS} {_OLD}",
            rf"{_AM}{_NOW} {_YEARS}{_AGE_END}",
            rf"{_AM}(?: {_NAME},|{_NOW}) an? {_YEARS}[- ]years?[- ]old\b",
            rf"\bI{_HAVE}{_NOW} turned {_YEARS}(?:{_END}|(?= (?:yesterday|recently)))",
            rf"\bmy age is {_YEARS}",
        ),
    ),
    (
        BasicField.LOCATION,
        _place,
        (
            rf"\bI{_NOW} (?:live|reside){_NOW} in {_WHERE}",
            rf"{_AM}{_NOW} (?:living|based|residing|located) in {_WHERE}",
            rf"\bI(?: have|'ve) (?:been living|lived) in (?P<value>{_PLACE})(?= (?:for|since|all)\b)",
            rf"\bI{_HAVE}{_NOW} (?:moved|relocated){_FROM} to {_WHERE}",
        ),
    ),
    (
        BasicField.LOCATION,
        _known_place,  # what "we" do may be a firm's: "we moved to Slack"
        (rf"\bwe{_HAVE}{_NOW} (?:live in|moved to|relocated to) {_WHERE}",),
    ),
    (
        BasicField.OCCUPATION,
        _job,
        (rf"\bI{_NOW} work{_NOW} as {_JOB}", rf"{_AM}{_NOW} (?:working|employed){_NOW} as {_JOB}"),
    ),
    (
        BasicField.OCCUPATION,
        _known_job,
        (
            rf"{_AM}(?: {_NAME},|{_NOW}) an? (?:\d\d[- ]years?[- ]old )?(?P<value>{_WORDS}){_END}",
            rf"\bI{_HAVE}{_NOW} (?:became|become) {_JOB}",
            rf"\bmy (?:job|occupation|profession) is (?:being )?(?:an? )?(?P<value>{_WORDS}){_END}",
        ),
    ),
    (
        BasicField.EMPLOYER,
        _employer,
        (
            rf"\bI{_NOW} work{_NOW}(?: full[- ]time| part[- ]time| remotely)?{_AT}",
            rf"{_AM}{_NOW} (?:working|employed){_NOW} (?:at|for|by|with) {_FIRM}{_END}",
            rf"\bI(?: have|'ve) (?:been working|worked) (?:at|for) {_FIRM}(?= (?:for|since)\b)",
            rf"\bI{_HAVE}{_NOW} (?:started|began) (?:working|a (?:new )?job){_AT}",
            rf"\bI{_HAVE}{_NOW} (?:got|took|accepted|landed) (?:a|the|my|this) (?:new )?job{_AT}",
            rf"\bmy employer is {_FIRM}{_END}",
        ),
    ),
)
_NOW_OVER: tuple[tuple[BasicField, Callable[[str], str], tuple[str, ...]], ...] = (
    (
        BasicField.LOCATION,
        _place,
        (
            rf"\bI (?:used to live|grew up|was living|was based|had lived) in {_WHERE}",
            rf"\bI (?:(?:once|previously|formerly) )?lived in {_WHERE}",
            rf"\bI{_HAVE}{_NOW} moved (?:here |away |over )?from {_WHERE}",
        ),
    ),
    (
        BasicField.OCCUPATION,
        _known_job,
        (rf"\bI (?:used to (?:be|work as)|was|worked as|was working as)(?: once)? {_JOB}",),
    ),
    (
        BasicField.EMPLOYER,
        _employer,
        (
            rf"\bI (?:used to work|worked|was working)(?: as an? {_WORDS})?{_AT}",
            rf"\bI{_HAVE}{_NOW} (?:quit|left|lost) my (?:old )?job{_AT}",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Rule:
    field: BasicField
    accept: Callable[[str], str]
    pattern: re.Pattern[str]
    is_past: bool


_RULES = tuple(
    _Rule(field, accept, re.compile(pattern, re.IGNORECASE), is_past)
    for is_past, groups in ((False, _NOW_TRUE), (True, _NOW_OVER))
    for field, accept, patterns in groups
    for pattern in patterns
)
_BEHIND_JOB = re.compile(_AT, re.IGNORECASE)
_LONGEST_SENTENCE = 600  # beyond it a list, a log, no statement; and the rules would take their time
# A word of these is in every rule: most sentences have none, and cost a tenth.
_TOLD = re.compile(
    r"\b(?:I'm|I am|I was|used to|grew up|names?|calls?|turned|age|live|lived|living|reside|moved|relocated|"
    r"work|worked|working|became|become|job|occupation|profession|employer)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|me|my|we)\b", re.IGNORECASE)


def english_claims(text: str) -> Iterator[Claim]:
    """Yield what normalised `text` says of its speaker, rule by rule and sentence by sentence."""
    if _FIRST_PERSON.search(text) is None:
        return
    for found in _SENTENCE.finditer(text.replace("’", "'")):
        sentence = found[0].strip()
        is_statement = len(sentence) <= _LONGEST_SENTENCE and not sentence.endswith("?")
        if is_statement and _FIRST_PERSON.search(sentence) and _TOLD.search(sentence):
            yield from _claims(sentence)


def _claims(sentence: str) -> Iterator[Claim]:
    for rule in _RULES:
        for found in rule.pattern.finditer(sentence):
            before = sentence[: found.start()]
            if _UNREAL.search(before) or len(_QUOTE.findall(before)) % 2:
                continue
            value = rule.accept(found["value"])
            is_past = rule.is_past or _LONG_AGO.search(sentence) is not None
            if not value or (is_past and rule.field in (BasicField.AGE, BasicField.NAME)):
                continue
            yield Claim(rule.field, value, found[0], is_past)
            behind = _BEHIND_JOB.match(sentence, found.end())
            if rule.field is BasicField.OCCUPATION and behind and (employer := _employer(behind["value"])):
                yield Claim(BasicField.EMPLOYER, employer, found[0] + behind[0], is_past)
