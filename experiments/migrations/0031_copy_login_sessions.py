from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations
from django.utils import timezone


def copy_sessions(apps, schema_editor):
    """Copy sessions with a login, so that the upgrade logs nobody out; without one they hold nothing."""
    Session = apps.get_model("sessions", "Session")
    LoginSession = apps.get_model("experiments", "LoginSession")
    users = set(apps.get_model("auth", "User").objects.values_list("pk", flat=True))
    store = SessionStore()
    rows = []
    for row in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        user_id = int(store.decode(row.session_data).get("_auth_user_id", 0))
        if user_id in users:
            rows.append(
                LoginSession(
                    session_key=row.session_key,
                    session_data=row.session_data,
                    expire_date=row.expire_date,
                    user_id=user_id,
                )
            )
    LoginSession.objects.bulk_create(rows, batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("experiments", "0030_login_sessions"), ("sessions", "0001_initial")]

    operations = [migrations.RunPython(copy_sessions, migrations.RunPython.noop)]
