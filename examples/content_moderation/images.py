"""What a picture may show, told by its colours: simple, and so often wrong that people are needed.

It measures shares of a picture, between 0 and 1, and the contrast as a standard deviation of the
brightness, from 0 to 127.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, ImageChops, ImageStat

from examples.content_moderation.kinds import ALLOW, BLOCK, UNCLEAR

LOOKED_AT: Final = (96, 96)
"""Pixels; a larger picture is made smaller first, which changes no share."""

SKIN_CB: Final = range(77, 128)
SKIN_CR: Final = range(133, 174)
"""Where skin of any tone lies in YCbCr: the colour of blood, lighter or darker."""

BLOOD_CR: Final = range(180, 256)
DARK_BELOW: Final = 32
MUCH_SKIN: Final = 0.35
MUCH_BLOOD: Final = 0.2
TOO_DARK: Final = 0.9
FLAT: Final = 12.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What was measured."""

    skin: float
    blood: float
    dark: float
    contrast: float

    @property
    def label(self) -> str:
        """What it may show."""
        if self.dark > TOO_DARK and self.contrast < FLAT:
            return "nothing to be seen"
        if self.blood > MUCH_BLOOD:
            return "blood"
        return "bare skin" if self.skin > MUCH_SKIN else "nothing improper"

    @property
    def verdict(self) -> str:
        """What follows from it."""
        verdicts = {"nothing to be seen": UNCLEAR, "nothing improper": ALLOW}
        return verdicts.get(self.label, BLOCK)


def measure(path: Path) -> Picture:
    """Look at a picture. Raises OSError where it is none."""
    with Image.open(path) as image:
        image.thumbnail(LOOKED_AT)
        colours = image.convert("YCbCr")
    brightness, cb, cr = colours.split()
    return Picture(
        skin=_share(ImageChops.multiply(_within(cb, SKIN_CB), _within(cr, SKIN_CR))),
        blood=_share(_within(cr, BLOOD_CR)),
        dark=_share(_within(brightness, range(DARK_BELOW))),
        contrast=round(ImageStat.Stat(brightness).stddev[0], 2),
    )


def _within(band: Image.Image, wanted: range) -> Image.Image:
    """White where a band's value is wanted, black elsewhere."""
    return band.point([255 if value in wanted else 0 for value in range(256)])


def _share(mask: Image.Image) -> float:
    """How much of a mask is white."""
    histogram = mask.histogram()
    return round(histogram[255] / sum(histogram), 4)
