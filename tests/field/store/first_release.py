"""The tables of the first release, in its own words: databases that it has made are still brought up to date."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection


def make_tables(connection: Connection) -> None:
    """Make the tables, and say that they are those of the first release."""
    op = Operations(MigrationContext.configure(connection))
    op.create_table("alembic_version", sa.Column("version_num", sa.String(32), primary_key=True))
    op.execute("INSERT INTO alembic_version VALUES ('first')")
    op.create_table(
        "admin",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_admin"),
    )
    op.create_table(
        "login_failure",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_login_failure"),
    )
    op.create_index("ix_login_failure_name_time", "login_failure", ["name", "time"])
    op.create_table(
        "naivety",
        sa.Column("person_hash", sa.Text, nullable=False),
        sa.Column("study", sa.Text, nullable=False),
        sa.Column("platform", sa.Text, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("person_hash", "study", name="pk_naivety"),
    )
    op.create_table(
        "server",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_server"),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("slug", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("screening", sa.JSON),
        sa.Column("screening_fingerprint", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("frozen_at", sa.Double),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_study"),
        sa.UniqueConstraint("slug", name="uq_study_slug"),
    )
    op.create_table(
        "session",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("study_id", sa.Integer, nullable=False),
        sa.Column("participant", sa.Text, nullable=False),
        sa.Column("token_hash", sa.Text),
        sa.Column("list", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("state_before", sa.Text),
        sa.Column("step", sa.Text, nullable=False),
        sa.Column("preview", sa.Boolean, nullable=False),
        sa.Column("pilot", sa.Boolean, nullable=False),
        sa.Column("platform", sa.Text, nullable=False),
        sa.Column("person_hash", sa.Text),
        sa.Column("resume_hash", sa.Text),
        sa.Column("withdrawal_code", sa.Text),
        sa.Column("completion_code", sa.Text, nullable=False),
        sa.Column("planned", sa.Boolean, nullable=False),
        sa.Column("trials", sa.Integer, nullable=False),
        sa.Column("answered", sa.Integer, nullable=False),
        sa.Column("next", sa.Integer, nullable=False),
        sa.Column("quiz_attempts", sa.Integer, nullable=False),
        sa.Column("quiz_passed", sa.Boolean),
        sa.Column("lease_until", sa.Double, nullable=False),
        sa.Column("started", sa.Double, nullable=False),
        sa.Column("finished", sa.Double),
        sa.Column("last_seen", sa.Double, nullable=False),
        sa.Column("device", sa.JSON, nullable=False),
        sa.Column("background", sa.JSON, nullable=False),
        sa.Column("comment", sa.Text),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_session_study"),
        sa.PrimaryKeyConstraint("id", name="pk_session"),
        sa.UniqueConstraint("study_id", "participant", "number", name="uq_session_study_id_participant_number"),
        sa.UniqueConstraint("token_hash", name="uq_session_token_hash"),
    )
    op.create_index("ix_session_study_id_person_hash", "session", ["study_id", "person_hash"])
    op.create_index("ix_session_study_id_resume_hash", "session", ["study_id", "resume_hash"])
    op.create_index("ix_session_study_id_state", "session", ["study_id", "state"])
    op.create_index("ix_session_withdrawal_code", "session", ["withdrawal_code"])
    op.create_table(
        "event",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("session_id", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_event_session", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
    )
    op.create_index("ix_event_session_id", "event", ["session_id"])
    op.create_table(
        "identity",
        sa.Column("session_id", sa.Integer, nullable=False),
        sa.Column("platform_id", sa.Text, nullable=False),
        sa.Column("platform_session", sa.Text, nullable=False),
        sa.Column("platform_study", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_identity_session", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", name="pk_identity"),
    )
    op.create_table(
        "invitation",
        sa.Column("study_id", sa.Integer, nullable=False),
        sa.Column("code_hash", sa.Text, nullable=False),
        sa.Column("session_id", sa.Integer),
        sa.Column("used", sa.Double),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_invitation_session", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_invitation_study"),
        sa.PrimaryKeyConstraint("study_id", "code_hash", name="pk_invitation"),
    )
    op.create_table(
        "quota_seat",
        sa.Column("session_id", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_quota_seat_session", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "question", name="pk_quota_seat"),
    )
    op.create_table(
        "trial",
        sa.Column("session_id", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("public_id", sa.Text, nullable=False),
        sa.Column("block", sa.Text, nullable=False),
        sa.Column("rows", sa.JSON, nullable=False),
        sa.Column("shown", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_trial_session", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "position", name="pk_trial"),
        sa.UniqueConstraint("public_id", name="uq_trial_public_id"),
    )
    op.create_table(
        "answer",
        sa.Column("session_id", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("response", sa.Text),
        sa.Column("rt", sa.Double),
        sa.Column("first_response", sa.Text),
        sa.Column("first_rt", sa.Double),
        sa.Column("changes", sa.Integer, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("received", sa.Double, nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id", "position"],
            ["trial.session_id", "trial.position"],
            name="fk_answer_trial",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", "position", "question", "attempt", name="pk_answer"),
    )
