"""The schema of a fresh database as text: ``python -m tests.store.schema_dump`` writes the file."""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from controlplane.embedded import running
from controlplane.embedded.place import program
from tests.fresh import migrated_database

FILE: Final = Path(__file__).with_name("schema.sql")

_NOISE: Final = re.compile(
    r"^(--.*|\\(un)?restrict .*|SET .*;|SELECT pg_catalog.*;)\n", re.MULTILINE
)
_TABLE: Final = re.compile(r"(CREATE (?:UNLOGGED )?TABLE \S+ \()\n(.*)\n\)(.*)", re.DOTALL)


def dump(url: str) -> str:
    """What pg_dump says of a database's schema, in an order that no migration changes."""
    told = subprocess.run(
        [str(program("pg_dump")), "--schema-only", "--no-owner", "--no-privileges", "-d", url],
        capture_output=True,
        text=True,
        check=True,
    )
    return normalised(told.stdout)


def normalised(told: str) -> str:
    """Statements in alphabetical order, and the columns of each table too."""
    statements = [each.strip() for each in re.split(r";\n+(?=[A-Z]|$)", _NOISE.sub("", told))]
    in_order = sorted(_sorted_columns(each) for each in statements if each)
    return "".join(f"{each};\n\n" for each in in_order)


def _sorted_columns(statement: str) -> str:
    table = _TABLE.fullmatch(statement)
    if table is None:
        return statement
    columns = sorted(line.strip().rstrip(",") for line in table[2].split("\n"))
    return f"{table[1]}\n    " + ",\n    ".join(columns) + f"\n){table[3]}"


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory(prefix="chargehand-") as folder,
        running(Path(folder) / "postgres") as server,
        migrated_database(server, "schema_dump") as url,
    ):
        FILE.write_text(dump(url))
