"""Add stored sizes and consent of sessions, versions of studies, and logins that the server can end."""

import sqlalchemy as sa
from alembic import op

revision = "versions_and_limits"
down_revision = "first"


def upgrade() -> None:
    """Add the columns and tables."""
    for name in ("events", "refused", "stored", "event_bytes"):
        op.add_column("session", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    op.add_column("session", sa.Column("consented", sa.Double))
    op.add_column("session", sa.Column("consent", sa.Text))
    op.add_column("session", sa.Column("version", sa.Text))
    op.create_table(
        "study_version",
        sa.Column("study_id", sa.Integer, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("files", sa.JSON, nullable=False),
        sa.Column("since", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_study_version_study"),
        sa.PrimaryKeyConstraint("study_id", "version", name="pk_study_version"),
    )
    op.create_table(
        "login",
        sa.Column("session_hash", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("session_hash", name="pk_login"),
    )
    op.create_index("ix_login_name", "login", ["name"])
