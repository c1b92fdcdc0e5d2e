"""What is written back to a customer, by the label of the ticket."""

from collections.abc import Mapping
from typing import Any, Final

TEMPLATES: Final[Mapping[str, str]] = {
    "unlock_failed": "Please hold the camera closer and switch Bluetooth off and on. If the lock "
    "stays shut, take the next bike: this ride costs nothing.",
    "wrong_charge": "We have opened your bill again and will correct it within two working days.",
    "refund_status": "Refunds reach your account within five working days after we approve them; "
    "we are checking where yours is.",
    "damaged_bike": "Thank you for telling us. The bike is blocked until the workshop has seen it.",
    "account_access": "We have sent a new link to the address that we know; it holds for one hour.",
    "plan_change": "You can change, pause or end your plan under Account, Plan; it takes effect "
    "with the next month.",
    "station_full": "You may lock the bike to itself beside a full station, free of charge. A van "
    "is on its way.",
    "lost_property": "We have told the riders and the workshop, and will write as soon as somebody "
    "hands it in.",
}
OTHERWISE: Final = "Your question is with our team for {topic}, who will answer today."
FLAGGED: Final = "A colleague will read your message and answer in person."


def compose(ticket: str, verdict: Mapping[str, Any]) -> str:
    """Write the reply to a ticket from the classifier's result (label, confidence, flagged)."""
    label = str(verdict["label"])
    if verdict["flagged"]:
        body = FLAGGED
    else:
        body = TEMPLATES.get(label) or OTHERWISE.format(topic=label.replace("_", " "))
    return f"Thank you for your message ({ticket}). {body}"
