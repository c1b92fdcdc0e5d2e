"""Figures written short, for sentences."""


def share(part: int, whole: int) -> str:
    """Write a share in percent, exact where it is small.

    >>> share(9, 500), share(1, 3), share(1, 2000), share(0, 7)
    ('1.8 %', '33 %', '0.05 %', '0 %')
    """
    percent = 100 * part / whole
    if percent == 0 or percent >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if percent >= 0.1 else f"{percent:.2g} %"


def short(seconds: float) -> str:
    """Write seconds short.

    >>> short(15), short(2.345), short(300), short(7200)
    ('15 s', '2.3 s', '5 min', '2 h')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
