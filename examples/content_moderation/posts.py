"""Made-up posts: a text, and a picture that is painted when it is needed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw

SIZE: Final = (240, 180)
SKY, SEA, SAND = (120, 180, 230), (30, 90, 140), (190, 190, 160)
SKIN, SHIRT, BLOOD, NIGHT = (224, 172, 140), (40, 60, 120), (190, 20, 25), (6, 7, 12)


@dataclass(frozen=True, slots=True)
class Post:
    """One post; ``motif`` names what its picture shows."""

    id: str
    text: str
    motif: str


POSTS: Final[Sequence[Post]] = (
    Post("p1", "Sunrise at the lake this morning, not a soul around.", "landscape"),
    Post("p2", "Our new shirts are in! Come and see us on Saturday.", "portrait"),
    Post("p3", "Hot singles near you, uncensored pics, click now!!!", "bathers"),
    Post("p4", "First swim of the year, it was freezing.", "bathers"),
    Post("p5", "You are an idiot and I will find you.", "landscape"),
    Post("p6", "I will kill you. This is what is left of the last one.", "accident"),
    Post("p7", "A steak for ten, done to the point. Recipe below.", "accident"),
    Post("p8", "Guess what this is.", "night"),
    Post("p9", "Free crypto, double your money, send to DE89 3704 0044 0532 0130 00", "portrait"),
)
"""Four on which both analyses agree (two fine, two not), five on which they do not."""


def paint(motif: str, path: Path) -> None:
    """Paint a picture and write it as a file."""
    image = Image.new("RGB", SIZE, SKY)
    MOTIFS[motif](ImageDraw.Draw(image))
    image.save(path)


def _landscape(draw: ImageDraw.ImageDraw) -> None:
    width, height = SIZE
    draw.rectangle((0, height * 0.5, width, height * 0.8), fill=SEA)
    draw.rectangle((0, height * 0.8, width, height), fill=SAND)
    draw.polygon([(0, 90), (60, 20), (120, 90)], fill=(70, 90, 80))
    draw.polygon([(80, 90), (150, 40), (220, 90)], fill=(90, 110, 95))


def _portrait(draw: ImageDraw.ImageDraw) -> None:
    draw.rectangle((0, 0, *SIZE), fill=(210, 215, 220))
    draw.rectangle((60, 115, 180, 180), fill=SHIRT)
    draw.ellipse((90, 35, 150, 120), fill=SKIN)
    draw.pieslice((88, 28, 152, 100), 180, 360, fill=(60, 40, 30))


def _bathers(draw: ImageDraw.ImageDraw) -> None:
    _landscape(draw)
    for left in (10, 85, 160):
        draw.ellipse((left + 20, 5, left + 55, 45), fill=SKIN)
        draw.rounded_rectangle((left, 45, left + 72, 180), 20, fill=SKIN)


def _accident(draw: ImageDraw.ImageDraw) -> None:
    draw.rectangle((0, 0, *SIZE), fill=(120, 120, 115))
    draw.ellipse((40, 30, 210, 160), fill=BLOOD)
    draw.ellipse((15, 110, 90, 170), fill=BLOOD)


def _night(draw: ImageDraw.ImageDraw) -> None:
    draw.rectangle((0, 0, *SIZE), fill=NIGHT)
    draw.ellipse((100, 80, 130, 105), fill=(16, 15, 20))


MOTIFS: Final[Mapping[str, Callable[[ImageDraw.ImageDraw], None]]] = {
    "landscape": _landscape,
    "portrait": _portrait,
    "bathers": _bathers,
    "accident": _accident,
    "night": _night,
}
