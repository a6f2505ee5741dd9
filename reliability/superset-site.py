"""A Superset with one embedded dashboard on two data sets, for superset.ts.

    python superset-site.py FOLDER

The folder has site.json: {"config": "Python", "secret", "audience", "permissions": [["can_read", "Chart"], ...],
"allowed_domain", "tables": {"orders": ["value of one row", ...], ...}}. Prints one line of JSON with the address, the UUID of the dashboard
and the charts, then serves until it is stopped.
"""

import json
import os
import sqlite3
import sys
from pathlib import Path
from uuid import uuid4

folder = Path(sys.argv[1])
site = json.loads((folder / "site.json").read_text())

(folder / "superset_config.py").write_text(f"""
{site["config"]}

SECRET_KEY = "a key of this test, and of nothing else {uuid4()}"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
FEATURE_FLAGS = {{"EMBEDDED_SUPERSET": True, "ENABLE_TEMPLATE_PROCESSING": True}}
GUEST_TOKEN_JWT_SECRET = {site["secret"]!r}
GUEST_TOKEN_JWT_AUDIENCE = {site["audience"]!r}
GUEST_ROLE_NAME = "EmbeddedGuest"
PREVENT_UNSAFE_DB_CONNECTIONS = False
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
ROW_LIMIT = 10000
CACHE = {{"CACHE_TYPE": "SimpleCache"}}
CACHE_CONFIG = DATA_CACHE_CONFIG = FILTER_STATE_CACHE_CONFIG = EXPLORE_FORM_DATA_CACHE_CONFIG = CACHE
""")
os.environ["GUEST_TOKEN_JWT_SECRET"] = site["secret"]
os.environ["PYTHONPATH"] = str(folder)
os.environ["SUPERSET_HOME"] = str(folder)
os.environ["SUPERSET_CONFIG_PATH"] = str(folder / "superset_config.py")
sys.path.insert(0, str(folder))

data = sqlite3.connect(folder / "data.db")
for table, values in site["tables"].items():
    data.execute(f"create table {table} (customer text)")
    data.executemany(f"insert into {table} values (?)", [(value,) for value in values])
data.commit()
data.close()

from superset.app import create_app  # noqa: E402

app = create_app()
with app.app_context():
    import flask_migrate
    import superset
    from superset import appbuilder, db, security_manager

    flask_migrate.upgrade(directory=str(Path(superset.__file__).parent / "migrations"))
    appbuilder.add_permissions(update_perms=True)
    security_manager.sync_role_definitions()
    guest = security_manager.add_role("EmbeddedGuest")
    for permission, view in site["permissions"]:
        found = security_manager.find_permission_view_menu(permission, view)
        security_manager.add_permission_role(guest, found)

    from superset.connectors.sqla.models import SqlaTable, TableColumn
    from superset.models.core import Database
    from superset.models.dashboard import Dashboard
    from superset.models.embedded_dashboard import EmbeddedDashboard
    from superset.models.slice import Slice

    database = Database(database_name="data", sqlalchemy_uri=f"sqlite:///{folder}/data.db")
    db.session.add(database)
    db.session.flush()
    charts = {}
    dashboard = Dashboard(dashboard_title="Customers", published=True)
    db.session.add(dashboard)
    for table in site["tables"]:
        dataset = SqlaTable(table_name=table, database=database)
        dataset.columns.append(TableColumn(column_name="customer", type="TEXT"))
        db.session.add(dataset)
        db.session.flush()
        params = {"columns": ["customer"], "viz_type": "table", "query_mode": "raw"}
        chart = Slice(
            slice_name=table,
            viz_type="table",
            datasource_type="table",
            datasource_id=dataset.id,
            params=json.dumps(params),
        )
        dashboard.slices.append(chart)
        db.session.flush()
        charts[table] = {"slice_id": chart.id, "dataset_id": dataset.id}
    embedded = EmbeddedDashboard(dashboard=dashboard, allow_domain_list=site["allowed_domain"])
    db.session.add(embedded)
    db.session.commit()
    started = {"dashboard": str(embedded.uuid), "dashboard_id": dashboard.id, "charts": charts}

from werkzeug.serving import make_server  # noqa: E402

server = make_server("127.0.0.1", 0, app)
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}", **started}), flush=True)
server.serve_forever()
