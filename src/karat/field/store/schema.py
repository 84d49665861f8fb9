"""The tables of a server.

The table `identity` has the platform ids of participants, separate from their answers. A `trial` is one page as planned
for one session: `rows` has its rows of the questionnaire (none for a break or a text), and `shown` is what the browser
gets. An `answer` belongs to a trial and one of its questions; a changed answer is a further attempt, and the earlier
ones stay. Points in time are seconds since 1970, in UTC.

A session has the numbers of `events` and `refused` answers and events, and the approximate number of bytes `stored`;
when its participant agreed (`consented`), the fingerprint of that text (`consent`), and the `version` of the study with
which it began. The table `study_version` has the files of each version.
"""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

STUDY_STATES = ("draft", "running", "paused", "closed")
ENDS = ("complete", "declined", "screened-out", "failed-quiz", "full", "withdrawn", "restarted")
"""Ends of a session by the participant; restarted: the participant began again in a new session."""
DECISIONS = ("excluded", "returned", "rejected")
"""Ends of a session by the researcher or the platform."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


study = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("screening", JSON),
    Column("screening_fingerprint", Text),
    Column("state", Text, nullable=False),
    Column("frozen_at", Double),
    Column("created", Double, nullable=False),
    UniqueConstraint("slug"),
)

study_version = Table(
    "study_version",
    metadata,
    Column("study_id", Integer, ForeignKey("study.id"), primary_key=True),
    Column("version", Text, primary_key=True),
    Column("files", JSON, nullable=False),
    Column("since", Double, nullable=False),
)

session = Table(
    "session",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study_id", Integer, ForeignKey("study.id"), nullable=False),
    Column("participant", Text, nullable=False),
    Column("token_hash", Text),
    Column("list", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("state_before", Text),
    Column("step", Text, nullable=False),
    Column("preview", Boolean, nullable=False),
    Column("pilot", Boolean, nullable=False),
    Column("platform", Text, nullable=False),
    Column("person_hash", Text),
    Column("resume_hash", Text),
    Column("withdrawal_code", Text),
    Column("completion_code", Text, nullable=False),
    Column("planned", Boolean, nullable=False),
    Column("trials", Integer, nullable=False),
    Column("answered", Integer, nullable=False),
    Column("next", Integer, nullable=False),
    Column("quiz_attempts", Integer, nullable=False),
    Column("quiz_passed", Boolean),
    Column("lease_until", Double, nullable=False),
    Column("started", Double, nullable=False),
    Column("finished", Double),
    Column("last_seen", Double, nullable=False),
    Column("device", JSON, nullable=False),
    Column("background", JSON, nullable=False),
    Column("comment", Text),
    Column("events", Integer, nullable=False, server_default="0"),
    Column("refused", Integer, nullable=False, server_default="0"),
    Column("stored", Integer, nullable=False, server_default="0"),
    Column("event_bytes", Integer, nullable=False, server_default="0"),
    Column("consented", Double),
    Column("consent", Text),
    Column("version", Text),
    UniqueConstraint("token_hash"),
    UniqueConstraint("study_id", "participant", "number"),
    Index(None, "study_id", "state"),
    Index(None, "study_id", "person_hash"),
    Index(None, "study_id", "resume_hash"),
    Index(None, "withdrawal_code"),
)

identity = Table(
    "identity",
    metadata,
    Column("session_id", Integer, ForeignKey("session.id", ondelete="CASCADE"), primary_key=True),
    Column("platform_id", Text, nullable=False),
    Column("platform_session", Text, nullable=False),
    Column("platform_study", Text, nullable=False),
)

quota_seat = Table(
    "quota_seat",
    metadata,
    Column("session_id", Integer, ForeignKey("session.id", ondelete="CASCADE"), primary_key=True),
    Column("question", Text, primary_key=True),
    Column("answer", Text, nullable=False),
)

trial = Table(
    "trial",
    metadata,
    Column("session_id", Integer, ForeignKey("session.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("public_id", Text, nullable=False),
    Column("block", Text, nullable=False),
    Column("rows", JSON, nullable=False),
    Column("shown", JSON, nullable=False),
    UniqueConstraint("public_id"),
)

answer = Table(
    "answer",
    metadata,
    Column("session_id", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("question", Text, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    Column("response", Text),
    Column("rt", Double),
    Column("first_response", Text),
    Column("first_rt", Double),
    Column("changes", Integer, nullable=False),
    Column("time", Double, nullable=False),
    Column("received", Double, nullable=False),
    Column("details", JSON, nullable=False),
    ForeignKeyConstraint(["session_id", "position"], ["trial.session_id", "trial.position"], ondelete="CASCADE"),
)

event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("session_id", Integer, ForeignKey("session.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer),
    Column("kind", Text, nullable=False),
    Column("time", Double, nullable=False),
    Column("details", JSON, nullable=False),
    Index(None, "session_id"),
)

invitation = Table(
    "invitation",
    metadata,
    Column("study_id", Integer, ForeignKey("study.id"), primary_key=True),
    Column("code_hash", Text, primary_key=True),
    Column("session_id", Integer, ForeignKey("session.id", ondelete="SET NULL")),
    Column("used", Double),
)

naivety = Table(
    "naivety",
    metadata,
    Column("person_hash", Text, primary_key=True),
    Column("study", Text, primary_key=True),
    Column("platform", Text, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("time", Double, nullable=False),
)
"""Participations in studies (by slug, also of other servers), and whether they were completed."""

admin = Table(
    "admin",
    metadata,
    Column("name", Text, primary_key=True),
    Column("password_hash", Text, nullable=False),
    Column("created", Double, nullable=False),
)

login = Table(
    "login",
    metadata,
    Column("session_hash", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("until", Double, nullable=False),
    Index(None, "name"),
)
"""Logins to the dashboard that have not ended."""

login_failure = Table(
    "login_failure",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("time", Double, nullable=False),
    Index(None, "name", "time"),
)

server = Table(
    "server",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
