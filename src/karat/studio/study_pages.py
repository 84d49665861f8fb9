"""The pages of a study and their requests: design, items, preview, rehearsal, run, results and history.

This module has no rules. A page shows the results of `study`, `field` and `report`, and passes input to them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from fastapi import APIRouter, Body, Depends, FastAPI
from pydantic import BaseModel, Field, StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from karat.errors import KaratError
from karat.field.server.headers import PAGE_CSP, POLICY
from karat.judgments.columns import FUNCTIONS
from karat.studio.folder import LIMIT, TOO_LARGE, StudioError, pack
from karat.studio.guard import REPORT_POLICY
from karat.studio.jobs import PowerWish, power_curve, try_rules
from karat.studio.live_check import copy_edited, live_check
from karat.studio.study_files import LOCKED, EditConflictError, StudyEdit, StudyFolder, value_at
from karat.studio.worker import JobFailure
from karat.studio.workspace import (
    PUBLISHED,
    REHEARSAL,
    RESULTS,
    NewStudy,
    Project,
    Workspace,
    frozen_since,
    note_checked,
    stored_row,
)
from karat.study.criteria import CRITERIA, criterion_settings, title_of
from karat.study.init import language_seen
from karat.study.items import STATUSES
from karat.study.setting_base import NAME, Settings
from karat.study.settings import OrderSettings
from karat.study.tasks import TASKS

if TYPE_CHECKING:
    from karat.studio.servers import StudyServers

SHEET_LIMIT = 50 * 1024**2
PLATFORMS = ("link", "prolific", "mturk")
TABS = {
    "design": "Design", "items": "Items", "preview": "Preview", "rehearse": "Rehearse", "run": "Run",
    "results": "Results", "history": "History",
}  # fmt: skip
ORDER_HINTS = {"pairs": "One per line, such as order = 2.", "lines": "One per line."}
study_router = APIRouter()
ONE_AT_A_TIME = Lock()


WRITTEN: Any = {"min_length": 1, "strip_whitespace": True}
Address = Annotated[str, StringConstraints(max_length=300, **WRITTEN), Body(embed=True)]
"""The address of a server, as typed."""


class DashboardLogin(BaseModel, extra="forbid", hide_input_in_errors=True):
    """The address of a server, with a name and password for its dashboard."""

    address: Annotated[str, StringConstraints(max_length=300, **WRITTEN)]
    name: Annotated[str, StringConstraints(max_length=100, **WRITTEN)]
    password: Annotated[str, StringConstraints(min_length=1, max_length=1000)] = Field(repr=False)


def _workspace(request: Request) -> Workspace:
    workspace: Workspace = request.app.state.workspace
    return workspace


def found_project(request: Request, study_id: str) -> Project:
    """The study of an address; 404 if there is none."""
    try:
        return _workspace(request).find(study_id)
    except StudioError:
        raise HTTPException(404) from None


FoundProject = Annotated[Project, Depends(found_project)]


@study_router.post("/folder", status_code=204)
def choose_folder(
    request: Request, folder: Annotated[str, StringConstraints(max_length=1000, **WRITTEN), Body(embed=True)]
) -> None:
    """Choose another studies folder."""
    _workspace(request).choose(folder)


@study_router.post("/sheets")
async def new_sheet(request: Request, name: str = "sheet.csv") -> Response:
    """Read a pasted or dropped sheet; returns its conditions, and the factors that karat guesses from them."""
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > SHEET_LIMIT:
            raise StudioError(TOO_LARGE)
    return JSONResponse(await run_in_threadpool(_sheet, _workspace(request), name, bytes(content)))


def _sheet(workspace: Workspace, name: str, content: bytes) -> dict[str, Any]:
    sheet = workspace.keep_sheet(name, content)
    sets, factors = workspace.sheet(sheet)
    language = language_seen(sentence for item_set in sets.sets.values() for sentence in item_set.values())
    return {
        "sheet": sheet, "sets": len(sets.sets), "fillers": len(sets.fillers), "conditions": list(sets.conditions),
        "factors": [{"name": factor, "levels": list(levels)} for factor, levels in factors.levels.items()],
        "guessed": factors.guessed, "notes": list(sets.notes), "language": language,
    }  # fmt: skip


@study_router.post("/studies")
def new_study(request: Request, new: NewStudy) -> Response:
    """Make a study."""
    case = request.app.state.cases.known.get(new.case)
    items = case.seen.items if case is not None and case.seen is not None else None
    sets = None if items is None or isinstance(items, JobFailure) else (items.sets, items.factors)
    project = _workspace(request).create(new, sets)
    return JSONResponse({"address": f"{request.app.state.keys.base}/studies/{project.id}/design"}, 201)


@study_router.get("/studies/{study_id}")
def study(request: Request, study_id: str) -> Response:
    """Redirect to the design of a study."""
    return RedirectResponse(f"{request.app.state.keys.base}/studies/{study_id}/design", 303)


@study_router.get("/studies/{study_id}/design")
def design(request: Request, project: FoundProject) -> Response:
    """Title, question, scale, factors, comparisons, texts, background, screening and recruitment."""
    files = project.files
    versions = files.versions()  # before the files are read: a later change is noticed
    settings = files.settings()
    frozen = frozen_since(project.folder)
    rules = settings.get("screening") or {}
    criteria = [_criterion(name, values) for name, values in rules.items() if name != "exclude"]
    return _page(
        request, project, "design", settings=settings, tasks=list(TASKS), platforms=PLATFORMS, criteria=criteria,
        other_criteria=[name for name in CRITERIA if name not in rules],
        locked=LOCKED.format(when=frozen) if frozen else "", sample=_sample(files), versions=versions,
        order=_order(settings.get("order")), readable=bool(settings), text=files.text() if not settings else "",
    )  # fmt: skip


def _order(settings: Any) -> list[dict[str, Any]]:
    """The constraints on the order of trials, as fields of a form."""
    settings = settings if isinstance(settings, dict) else {}
    fields = []
    for key, field in OrderSettings.model_fields.items():
        usual, value = field.get_default(), settings.get(key)
        kinds = {bool: "bool", dict: "pairs", list: "lines", int: "number"}
        kind = kinds.get(type(usual), "choice" if get_origin(field.annotation) is Literal else "text")
        options = {"bool": ("yes", "no"), "choice": get_args(field.annotation)}.get(kind, ())
        fields.append({
            "key": key, "kind": kind, "about": field.description or "", "options": options, "value": _field_text(value),
            "usual": _field_text(usual), "hint": ORDER_HINTS.get(kind, ""),
        })  # fmt: skip
    return fields


def _field_text(value: Any) -> str:
    """A value of the study file as text for a form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "\n".join(f"{name} = {entry}" for name, entry in value.items())
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _criterion(name: str, values: Any) -> dict[str, Any]:
    """A criterion of the study with its simple settings as fields of a form."""
    form: dict[str, Any] = {"name": name, "title": name, "fields": []}
    try:
        settings = criterion_settings(name, values)
        form["title"] = title_of(name)
    except (KaratError, ValueError):
        return form
    for key, field in type(settings).model_fields.items():
        kinds = set(get_args(field.annotation)) or {field.annotation}
        kind = "number" if kinds & {int, float} else "text" if str in kinds or not kinds & {bool, dict, list} else ""
        if kind and not any(isinstance(part, type) and issubclass(part, Settings) for part in kinds):
            usual = field.get_default()
            form["fields"].append({
                "key": key, "kind": kind, "about": field.description or "",
                "usual": usual if isinstance(usual, str | int | float) else "",
            })  # fmt: skip
    return form


def _sample(files: StudyFolder) -> str:
    """A sentence to show in the live preview."""
    for name in files.table_names():
        try:
            table = files.table(name)
        except KaratError:
            continue
        column = "sentence" if "sentence" in table.columns else None
        wide = next((name for block in files.settings().get("block", []) for name in block.get("wide", {})), None)
        column = column or (wide if wide in table.columns else None)
        if column and table.rows:
            return table.rows[0][table.columns.index(column)]
    return "The sentence that participants judge."


@study_router.get("/studies/{study_id}/items")
def items(request: Request, project: FoundProject, table: str = "") -> Response:
    """The item tables as grids."""
    versions = project.files.versions()
    names = project.files.table_names()
    chosen = table if table in names else (names[0] if names else "")
    return _page(
        request, project, "items", tables=names, table=chosen, settings=project.files.settings(),
        choices={"function": list(FUNCTIONS), "status": list(STATUSES)}, versions=versions,
    )  # fmt: skip


@study_router.get("/studies/{study_id}/tables/{name:path}")
def table(project: FoundProject, name: str) -> Response:
    """A table, cell by cell."""
    grid = project.files.table(name)
    return JSONResponse({
        "columns": grid.columns, "rows": grid.rows, "version": grid.version, "editable": grid.editable,
    })  # fmt: skip


@study_router.get("/studies/{study_id}/state")
def state(project: FoundProject) -> Response:
    """The versions of the files, so that a page notices changes by others."""
    return JSONResponse({"versions": project.files.versions(), "state": project.state})


@study_router.post("/studies/{study_id}/check")
def check_study(project: FoundProject, edit: StudyEdit) -> Response:
    """Check a study with the unsaved changes of a page."""
    result = live_check(project.files, edit)
    if not edit.changes and not edit.tables:
        note_checked(project.folder, result["counts"]["error"])
    return JSONResponse(result)


@study_router.post("/studies/{study_id}/save")
def save_study(project: FoundProject, edit: StudyEdit) -> Response:
    """Save the changes of a page, unless somebody else changed the same file."""
    try:
        written = project.files.save(edit, frozen_since(project.folder))
    except EditConflictError as error:
        return JSONResponse({"error": str(error), "conflict": list(error.places)}, 409)
    files = project.files
    settings = files.settings()
    values = [{"path": change.path, "value": value_at(settings, change.path)} for change in edit.changes]
    return JSONResponse({"written": written, "versions": files.versions(), "values": values})


@study_router.get("/studies/{study_id}/preview")
def preview_page(
    request: Request, project: FoundProject, list_number: int = 1, trial: int = 1, wide: bool = False
) -> Response:
    """The participants' pages, in a frame as wide as a phone or a desktop window."""
    try:
        preview = _servers(request).preview(project, list_number, trial)
    except KaratError as error:
        return _page(request, project, "preview", shown=None, failure=str(error), wide=wide)
    headers = {POLICY: f"{PAGE_CSP}; frame-src {preview.origin}"}
    return _page(request, project, "preview", headers, shown=preview, failure="", wide=wide)


@study_router.get("/studies/{study_id}/rehearse")
def rehearsal_page(request: Request, project: FoundProject) -> Response:
    """The rehearsal with bots of all kinds, and the power of contrasts."""
    from karat.simulate.layout import USUAL_EFFECT, planned_contrasts
    from karat.study.study import load

    names: list[str] = []
    with suppress(KaratError):
        names = [contrast.name for contrast in planned_contrasts(load(project.folder))]
    versions = project.files.versions()
    servers = _servers(request)
    power, confirm = (_outcome(servers, f"{kind} {project.id}", versions) for kind in ("power", "confirm"))
    settings = project.files.settings()
    planned = {"participants": value_at(settings, ["recruitment", "participants"]), "power": settings.get("power")}
    result = power.get("result")
    sizes = [row["participants"] for row in result["sizes"]] if result else []
    start = sizes.index(planned["participants"]) if planned["participants"] in sizes else len(sizes) // 2
    return _page(
        request, project, "rehearse", progress=servers.rehearsal(project),
        there=(project.folder / REHEARSAL / "report.html").is_file(), contrasts=names, usual_effect=USUAL_EFFECT,
        frozen=frozen_since(project.folder), planned=planned, start=start, power=power, confirm=confirm,
    )  # fmt: skip


def _outcome(servers: StudyServers, name: str, versions: dict[str, str]) -> dict[str, Any]:
    """The progress or the result of a job of the pages; `stale` if the files have changed since."""
    job = servers.jobs.find(name)
    if job is None:
        return {"working": False}
    if job.working:
        return {"working": True, **job.job.progress()}
    failed = isinstance(job.result, JobFailure)
    return {
        "working": False, "stale": job.about != versions, "failure": job.result if failed else None,
        "result": None if failed else job.result,
    }  # fmt: skip


@study_router.post("/studies/{study_id}/power", status_code=202)
def begin_power(request: Request, project: FoundProject, wish: PowerWish) -> None:
    """Simulate the power of a contrast."""
    kind = "power" if wish.participants is None else "confirm"
    about = project.files.versions()
    _servers(request).jobs.begin(f"{kind} {project.id}", about, power_curve, str(project.folder), wish)


@study_router.post("/studies/{study_id}/rules", status_code=202)
def begin_rules(request: Request, project: FoundProject, edit: StudyEdit) -> None:
    """Try the screening rules of the page on simulated participants."""
    jobs, name = _servers(request).jobs, f"rules {project.id}"
    job = jobs.find(name)
    if job is not None and job.working:
        jobs.stop(name)
        raise StudioError("The rules were being tried already. That was stopped; try again.")
    folder = request.app.state.cases.root / "rules" / project.id / project.folder.name
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_edited(project.files, edit, folder)
    jobs.begin(name, project.files.versions(), try_rules, str(folder))


@study_router.get("/studies/{study_id}/rules")
def tried_rules(request: Request, project: FoundProject) -> Response:
    """The effect of each screening rule on simulated participants."""
    outcome = _outcome(_servers(request), f"rules {project.id}", {})
    failure = outcome.pop("failure", None)
    return JSONResponse({**outcome, "failure": " ".join((failure.headline, *failure.lines)) if failure else ""})


@study_router.get("/studies/{study_id}/jobs/{kind}/progress")
def job_progress(request: Request, project: FoundProject, kind: str) -> Response:
    """The progress of a job of a page."""
    job = _servers(request).jobs.find(f"{kind} {project.id}")
    progress = {"working": True, **job.job.progress()} if job is not None and job.working else {"working": False}
    return JSONResponse(progress)


@study_router.post("/studies/{study_id}/jobs/{kind}/stop", status_code=202)
def stop_job(request: Request, project: FoundProject, kind: str) -> None:
    """Stop a job of a page."""
    _servers(request).jobs.stop(f"{kind} {project.id}")


@study_router.post("/studies/{study_id}/rehearse", status_code=202)
def rehearse(
    request: Request, project: FoundProject, bots: Annotated[int, Body(embed=True, ge=12, le=500)] = 30
) -> None:
    """Start a rehearsal with this many bots."""
    _servers(request).rehearse(project, bots)


@study_router.get("/studies/{study_id}/rehearse/progress")
def rehearsal_progress(request: Request, project: FoundProject) -> Response:
    """The progress of a rehearsal."""
    progress = _servers(request).rehearsal(project)
    return JSONResponse(progress or {"working": False, "lines": []})


@study_router.post("/studies/{study_id}/rehearse/stop", status_code=202)
def stop_rehearsal(request: Request, project: FoundProject) -> None:
    """Stop a rehearsal."""
    _servers(request).stop_rehearsal(project)


@study_router.get("/studies/{study_id}/rehearse/report.html")
def rehearsal_report(project: FoundProject) -> Response:
    """The report of a rehearsal."""
    return _report(project.folder / REHEARSAL / "report.html")


@study_router.get("/studies/{study_id}/run")
def run_page(request: Request, project: FoundProject) -> Response:
    """The server on this machine, and links for participants."""
    from karat.studio.servers import password, published_address

    servers = _servers(request)
    address = servers.address(project)
    row = stored_row(project.folder)
    failure = link = ""
    texts: dict[str, Any] = {}
    try:
        texts = servers.texts(project)
        link = servers.own_link(project) if address else ""
    except KaratError as error:
        failure = str(error)
    return _page(
        request, project, "run", address=address, texts=texts, link=link, failure=failure,
        state=row.state if row else "", published=published_address(project),
        password=password(project) if address else "", frozen=frozen_since(project.folder),
    )  # fmt: skip


@study_router.get("/studies/{study_id}/publish")
def publish_page(request: Request, project: FoundProject) -> Response:
    """The folder for a server, how to install it, and the check from outside."""
    from karat.studio.servers import published_address

    folder, address = project.folder / PUBLISHED, published_address(project)
    secret = folder / "password.env"
    password = secret.read_text(encoding="ascii").strip().partition("=")[2] if secret.is_file() else ""
    wheel = next((path.name for path in folder.glob("karat-*.whl")), "")
    slug = next((path.parent.name for path in folder.glob(f"*/{NAME}")), "")
    return _page(
        request, project, "run", template="publish", address=address, folder=folder, password=password, wheel=wheel,
        slug=slug,
    )  # fmt: skip


@study_router.post("/studies/{study_id}/publish")
def publish(request: Request, project: FoundProject, address: Address) -> Response:
    """Build the folder for a server."""
    return JSONResponse({"written": _servers(request).publish(project, address)})


@study_router.post("/studies/{study_id}/publish/look")
def look_from_outside(request: Request, project: FoundProject, address: Address) -> Response:
    """Check the address of a server from outside."""
    return JSONResponse({"found": _servers(request).look_from_outside(project, address)})


@study_router.get("/studies/{study_id}/publish/folder.zip")
def published_folder(request: Request, project: FoundProject) -> Response:
    """The folder for a server as one archive."""
    folder = project.folder / PUBLISHED
    if not folder.is_dir():
        raise HTTPException(404)
    place = request.app.state.cases.root / f"{project.id}-server" / f"{PUBLISHED}.zip"
    place.parent.mkdir(exist_ok=True)
    pack(folder, place)
    return FileResponse(place, filename=place.name)


@study_router.post("/studies/{study_id}/run/start", status_code=202)
def start_server(request: Request, project: FoundProject) -> None:
    """Serve a study on this machine, which freezes its rules."""
    _servers(request).start(project)


@study_router.post("/studies/{study_id}/run/stop", status_code=202)
def stop_server(request: Request, project: FoundProject) -> None:
    """Stop the server of a study."""
    _servers(request).stop(project)


@study_router.post("/studies/{study_id}/run/state", status_code=202)
def set_study_state(
    request: Request, project: FoundProject, state: Annotated[Literal["running", "paused", "closed"], Body(embed=True)]
) -> None:
    """Pause, resume or close a study."""
    _servers(request).set_state(project, state)


@study_router.get("/dashboard")
def dashboard_page(request: Request, address: str = "", name: str = "admin") -> Response:
    """The dashboard of a server in this window, or the form to log in."""
    request.app.state.presence.seen()
    dashboard = _servers(request).dashboard()
    headers = {POLICY: f"{PAGE_CSP}; frame-src {dashboard['origin']}"} if dashboard else None
    template = request.app.state.templates.get_template("dashboard.html")
    text = template.render(base=request.app.state.keys.base, shown=dashboard, address=address, name=name)
    return HTMLResponse(text, headers=headers)


@study_router.post("/dashboard", status_code=202)
def open_dashboard(request: Request, login: DashboardLogin) -> None:
    """Log in to a server and show its dashboard."""
    _servers(request).open_dashboard(login.address, login.name, login.password)


@study_router.post("/dashboard/leave", status_code=202)
def close_dashboard(request: Request) -> None:
    """Log out of the current dashboard."""
    _servers(request).close_dashboard()


@study_router.post("/studies/{study_id}/run/dashboard")
def open_own_dashboard(request: Request, project: FoundProject) -> Response:
    """Show the dashboard of a study on this machine."""
    _servers(request).open_own_dashboard(project)
    return JSONResponse({"address": f"{request.app.state.keys.base}/dashboard"}, 201)


@study_router.get("/studies/{study_id}/results")
def results_page(request: Request, project: FoundProject) -> Response:
    """The reports of a study, and the forms to report answers from here or results of any tool."""
    reports = sorted(path.parent.name for path in (project.folder / RESULTS).glob("*/report.html"))
    row = stored_row(project.folder)
    return _page(
        request, project, "results", reports=reports, collected=row is not None, limit=LIMIT // 1024**2,
    )  # fmt: skip


@study_router.post("/studies/{study_id}/results")
def analyse(request: Request, project: FoundProject, collected: bool = True) -> Response:
    """Make a drop with the files of the study and, if wanted, the answers collected here."""
    from karat.studio.servers import exported

    cases = request.app.state.cases
    case = cases.new()
    case.home = project.folder / RESULTS
    try:
        exported(project, case.files, collected)
    except KaratError:
        cases.delete(case)
        raise
    case.size = sum(path.stat().st_size for path in case.files.rglob("*") if path.is_file())
    if collected:
        cases.look(case)
    return JSONResponse({"address": f"{request.app.state.keys.base}/cases/{case.id}"}, 201)


@study_router.get("/studies/{study_id}/results/{name}/report.html")
def kept_report(project: FoundProject, name: str) -> Response:
    """A saved report in the folder of its study."""
    reports = {path.parent.name: path for path in (project.folder / RESULTS).glob("*/report.html")}
    if name not in reports:
        raise HTTPException(404)
    return _report(reports[name])


@study_router.get("/studies/{study_id}/history")
def history(request: Request, project: FoundProject) -> Response:
    """The history of a study."""
    return _page(request, project, "history", snapshots=project.files.history())


@study_router.post("/studies/{study_id}/history")
def restore(
    project: FoundProject, name: Annotated[str, Body(embed=True, pattern=r"^[0-9]{8}-[0-9]{6}-[0-9]{3,}$")]
) -> Response:
    """Restore a version; the current one stays in the history."""
    if frozen_since(project.folder):
        raise StudioError("The study has started, so an earlier version cannot be brought back. Copy the study first.")
    return JSONResponse({"written": project.files.restore(name)})


def _report(path: Path) -> Response:
    if not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, headers={POLICY: REPORT_POLICY})


def servers_of(app: FastAPI) -> StudyServers:
    """The servers of the studies, loaded when they are first needed, so that the first page does not wait."""
    with ONE_AT_A_TIME:
        if app.state.servers is None:
            from karat.studio.servers import StudyServers

            app.state.servers = StudyServers(app.state.cases.root, f"http://127.0.0.1:{app.state.keys.port}")
    servers: StudyServers = app.state.servers
    return servers


def _servers(request: Request) -> StudyServers:
    return servers_of(request.app)


def _page(
    request: Request,
    project: Project,
    tab: str,
    headers: dict[str, str] | None = None,
    template: str = "",
    **values: Any,
) -> Response:
    request.app.state.presence.seen()
    keys = request.app.state.keys
    text = request.app.state.templates.get_template(f"study_{template or tab}.html").render(
        base=keys.base, project=project, tab=tab, tabs=TABS, here=f"{keys.base}/studies/{project.id}", **values
    )
    return HTMLResponse(text, headers=headers)
