"""How the properties of core are tried out."""

from hypothesis import settings

# An example's time says how busy the machine is; what must be quick has a test in CPU time.
settings.register_profile("chargehand", deadline=None)
settings.load_profile("chargehand")
