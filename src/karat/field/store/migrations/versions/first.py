"""The tables of the first release. Nothing is done here: new databases are made as the schema has them."""

revision = "first"
down_revision = None
