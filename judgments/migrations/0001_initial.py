import django.core.validators
import django.db.models.deletion
import experiments.encryption
import judgments.models.participant
import judgments.models.session
import judgments.models.trial
from django.conf import settings
from django.db import migrations, models

from experiments.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('experiments', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels(
            models=[
                migrations.CreateModel(
                    name='Alert',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='experiments.experiment')),
                        ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='experiments.campaign')),
                        ('kind', models.CharField(choices=[('full', 'study full'), ('idle', 'no arrivals'), ('drop_out', 'drop-out'), ('balance', 'balance low'), ('deadline', 'automatic approval is near'), ('webhook', 'events do not arrive'), ('plugin', 'a plugin failed')], max_length=8)),
                        ('key', models.CharField(help_text='The same for the same condition of a study.', max_length=60)),
                        ('title', models.CharField(max_length=200)),
                        ('text', models.TextField(help_text='What happened, what is safe, what to do.')),
                        ('address', models.CharField(help_text='Path of the page where something can be done.', max_length=300)),
                        ('link', models.CharField(help_text='Text of the link.', max_length=60)),
                        ('raised_at', models.DateTimeField()),
                        ('resolved_at', models.DateTimeField(blank=True, null=True)),
                        ('dismissed_at', models.DateTimeField(blank=True, null=True)),
                        ('dismissed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-raised_at', '-id'],
                        'indexes': [models.Index(fields=['experiment', 'resolved_at'], name='alert_study_open')],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('resolved_at__isnull', True)), fields=('experiment', 'key'), name='alert_open_once_per_condition')],
                    },
                ),
                migrations.CreateModel(
                    name='AlertMail',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('alert', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='judgments.alert')),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('sent_at', models.DateTimeField(blank=True, null=True)),
                        ('next_attempt_at', models.DateTimeField(blank=True, help_text='When it is sent, or tried again; empty = at once.', null=True)),
                        ('n_attempts', models.PositiveIntegerField(default=0)),
                        ('problem', models.CharField(blank=True, max_length=300)),
                    ],
                    options={
                        'ordering': ['id'],
                        'indexes': [models.Index(fields=['sent_at', 'next_attempt_at'], name='alert_mail_pending')],
                        'constraints': [models.UniqueConstraint(fields=('alert', 'user'), name='alert_mail_once_per_member')],
                    },
                ),
                migrations.CreateModel(
                    name='AlertPreferences',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='alert_preferences', to=settings.AUTH_USER_MODEL)),
                        ('mail', models.CharField(choices=[('at_once', 'at once, outside the quiet hours'), ('daily', 'once a day, all together'), ('never', 'never')], default='at_once', max_length=7)),
                        ('quiet_from', models.PositiveSmallIntegerField(default=21, validators=[django.core.validators.MaxValueValidator(23)])),
                        ('quiet_until', models.PositiveSmallIntegerField(default=7, validators=[django.core.validators.MaxValueValidator(23)])),
                        ('digest_hour', models.PositiveSmallIntegerField(default=8, validators=[django.core.validators.MaxValueValidator(23)])),
                        ('time_zone', models.CharField(blank=True, help_text="Of the browser when this was saved; the account's comes first.", max_length=64)),
                        ('without', models.ManyToManyField(blank=True, help_text='Studies about which no mail is sent.', related_name='+', to='experiments.experiment')),
                    ],
                    options={
                        'verbose_name_plural': 'alert preferences',
                    },
                ),
                migrations.CreateModel(
                    name='AlertSettings',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='alert_settings', to='experiments.experiment')),
                        ('full', models.BooleanField(default=True)),
                        ('idle_hours', models.PositiveIntegerField(default=24, validators=[django.core.validators.MaxValueValidator(2160)])),
                        ('drop_out_percent', models.PositiveIntegerField(default=30, validators=[django.core.validators.MaxValueValidator(100)])),
                        ('balance_places', models.PositiveIntegerField(default=10, validators=[django.core.validators.MaxValueValidator(100000)])),
                        ('deadline_hours', models.PositiveIntegerField(default=48, validators=[django.core.validators.MaxValueValidator(2160)])),
                        ('webhook', models.BooleanField(default=True)),
                    ],
                    options={
                        'verbose_name_plural': 'alert settings',
                    },
                ),
                migrations.CreateModel(
                    name='Participant',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='experiments.experiment')),
                        ('pseudonym', models.CharField(max_length=100)),
                        ('background', models.JSONField(blank=True, default=dict, help_text='Answers to the questionnaire.')),
                        ('is_native', models.BooleanField(blank=True, help_text='Empty when not asked or not answered.', null=True)),
                        ('is_simulated', models.BooleanField(default=False)),
                        ('erased_at', models.DateTimeField(blank=True, help_text="When the answers were deleted at the person's wish.", null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['id'],
                        'constraints': [models.UniqueConstraint(fields=('experiment', 'pseudonym'), name='pseudonym_once_per_study')],
                    },
                ),
                migrations.CreateModel(
                    name='PlatformEvent',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='experiments.platformaccount')),
                        ('event_id', models.CharField(help_text='The same in each delivery of the event.', max_length=100)),
                        ('event_type', models.CharField(max_length=100)),
                        ('resource_id', models.CharField(help_text='The study or submission that changed.', max_length=100)),
                        ('received_at', models.DateTimeField(auto_now_add=True)),
                        ('handled_at', models.DateTimeField(blank=True, null=True)),
                        ('next_attempt_at', models.DateTimeField(blank=True, help_text='When it is handled again; empty = at once.', null=True)),
                        ('n_attempts', models.PositiveSmallIntegerField(default=0)),
                        ('problem', models.CharField(blank=True, max_length=500)),
                    ],
                    options={
                        'ordering': ['id'],
                        'indexes': [models.Index(fields=['handled_at', 'next_attempt_at'], name='platform_event_pending')],
                        'constraints': [models.UniqueConstraint(fields=('account', 'event_id'), name='platform_event_once')],
                    },
                ),
                migrations.CreateModel(
                    name='PlatformIdentity',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('participant', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='identity', to='judgments.participant')),
                        ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='experiments.experiment')),
                        ('recruiter', models.CharField(max_length=40)),
                        ('external_id', experiments.encryption.EncryptedTextField(blank=True)),
                        ('external_digest', judgments.models.participant.DigestField(blank=True, default='', editable=False, max_length=43)),
                        ('is_verified', models.BooleanField(default=False, help_text='From a signed link or the platform itself; else only claimed by a link.')),
                        ('parameters', experiments.encryption.EncryptedJSONField(blank=True, default=dict, help_text='Personal parameters of the link, as they came.')),
                        ('purge_at', models.DateField(blank=True, db_index=True, help_text='Set when the study closes; deleted on that day.', null=True)),
                    ],
                    options={
                        'verbose_name_plural': 'platform identities',
                        'indexes': [models.Index(fields=['experiment', 'external_digest'], name='identity_of_study')],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('is_verified', True)), fields=('experiment', 'recruiter', 'external_digest'), name='platform_id_once_per_study')],
                    },
                ),
                migrations.CreateModel(
                    name='Session',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='experiments.experiment')),
                        ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='experiments.experimentversion')),
                        ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='judgments.participant')),
                        ('list', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='experiments.presentationlist')),
                        ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='sessions', to='experiments.campaign')),
                        ('token', models.CharField(default=judgments.models.session.new_token, max_length=64)),
                        ('status', models.CharField(choices=[('active', 'in session'), ('complete', 'complete'), ('refused', 'consent refused'), ('screened_out', 'screened out'), ('abandoned', 'abandoned'), ('withdrawn', 'withdrawn')], default='active', max_length=12)),
                        ('screen', models.CharField(default='consent', help_text='Where the participant is now.', max_length=20)),
                        ('seed', models.PositiveBigIntegerField(default=0)),
                        ('is_test', models.BooleanField(default=False, help_text='A preview or pilot run; never counted.')),
                        ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                        ('started_at', models.DateTimeField(blank=True, null=True)),
                        ('last_seen_at', models.DateTimeField(blank=True, null=True)),
                        ('completed_at', models.DateTimeField(blank=True, null=True)),
                        ('completion_code', models.CharField(blank=True, max_length=40)),
                        ('external_id', models.CharField(blank=True, help_text='Submission or assignment id of its source.', max_length=100)),
                        ('submission_status', models.CharField(blank=True, help_text='Decision recorded by the platform.', max_length=20)),
                        ('work_time_s', models.PositiveIntegerField(blank=True, help_text='Work time the platform reports, in s.', null=True)),
                        ('user_agent', models.CharField(blank=True, max_length=300)),
                        ('device', models.CharField(blank=True, help_text="Salted hash of this browser's token: alike within one study only.", max_length=40)),
                        ('attributes', models.JSONField(blank=True, default=dict, help_text='Further columns of an imported file.')),
                    ],
                    options={
                        'ordering': ['id'],
                        'indexes': [models.Index(fields=['list', 'status', 'lease_expires_at'], name='session_list_lease'), models.Index(fields=['experiment', 'status'], name='session_experiment_status')],
                        'constraints': [models.UniqueConstraint(fields=('token',), name='session_token_once'), models.UniqueConstraint(condition=models.Q(('status', 'active')), fields=('participant',), name='one_active_session_per_participant'), models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('experiment', 'external_id'), name='external_session_once')],
                    },
                ),
                migrations.CreateModel(
                    name='Consent',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consents', to='judgments.participant')),
                        ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='consents', to='judgments.session')),
                        ('text_sha256', models.CharField(max_length=64)),
                        ('given', models.BooleanField()),
                        ('statements', models.JSONField(blank=True, default=list, help_text='The statements of the page: [{"text", "required", "ticked"}].')),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['id'],
                    },
                ),
                migrations.CreateModel(
                    name='Signal',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='signals', to='judgments.session')),
                        ('name', models.CharField(max_length=40)),
                        ('version', models.PositiveIntegerField()),
                        ('value', models.FloatField()),
                        ('reason', models.CharField(max_length=300)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['session', 'name'],
                        'constraints': [models.UniqueConstraint(fields=('session', 'name'), name='signal_once_per_session')],
                    },
                ),
                migrations.CreateModel(
                    name='Flag',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='flags', to='judgments.participant')),
                        ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='flags', to='judgments.session')),
                        ('reason', models.CharField(max_length=300)),
                        ('raised_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('raised_at', models.DateTimeField(auto_now_add=True)),
                        ('lifted_at', models.DateTimeField(blank=True, null=True)),
                        ('lifted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-raised_at', '-id'],
                        'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='flag_has_a_reason')],
                    },
                ),
                migrations.CreateModel(
                    name='Payment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('session', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='judgments.session')),
                        ('kind', models.CharField(choices=[('reward', 'reward'), ('bonus', 'bonus'), ('screen_out', 'screen-out pay'), ('not_paid', 'not paid'), ('reversal', 'taken back')], max_length=10)),
                        ('amount_minor', models.PositiveIntegerField(help_text='Minor units (cents, pence).')),
                        ('currency', models.CharField(max_length=3)),
                        ('reason', models.CharField(blank=True, max_length=300)),
                        ('reverses', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reversal', to='judgments.payment')),
                        ('idempotency_key', models.CharField(max_length=100, unique=True)),
                        ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['id'],
                        'constraints': [models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}$')), name='payment_currency_iso'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'not_paid'), _negated=True), models.Q(('amount_minor', 0), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='not_paid_has_a_reason'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'reversal'), ('reverses__isnull', False)), models.Q(models.Q(('kind', 'reversal'), _negated=True), ('reverses__isnull', True)), _connector='OR'), name='reversal_names_its_entry')],
                    },
                ),
                migrations.CreateModel(
                    name='Submission',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='experiments.campaign')),
                        ('external_id', models.CharField(max_length=100)),
                        ('session', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='submission', to='judgments.session')),
                        ('status', models.CharField(choices=[('active', 'taking part'), ('submitted', 'waiting for a decision'), ('approved', 'approved'), ('rejected', 'rejected'), ('returned', 'returned'), ('timed_out', 'timed out'), ('screened_out', 'screened out'), ('unknown', 'unknown')], default='unknown', max_length=12)),
                        ('platform_status', models.CharField(blank=True, help_text="In the platform's own word.", max_length=40)),
                        ('entered_code', models.CharField(blank=True, max_length=100)),
                        ('started_at', models.DateTimeField(blank=True, null=True)),
                        ('submitted_at', models.DateTimeField(blank=True, null=True)),
                        ('decide_by', models.DateTimeField(blank=True, help_text='When the platform approves by itself, at the earliest.', null=True)),
                        ('paid_bonus_minor', models.PositiveIntegerField(blank=True, help_text='Bonuses paid, as the platform reports; empty = not reported.', null=True)),
                        ('mismatches', models.JSONField(blank=True, default=list, help_text='Where the platform and our data disagree; see reconcile.py.')),
                        ('data', models.JSONField(blank=True, default=dict, help_text='Further facts of the platform, without ids.')),
                        ('decision', models.CharField(blank=True, choices=[('', 'none'), ('approve', 'approve'), ('reject', 'reject'), ('request_return', 'ask to return')], default='', max_length=14)),
                        ('category', models.CharField(blank=True, help_text='Ground of a rejection.', max_length=40)),
                        ('message', models.TextField(blank=True, help_text='What the participant reads about the decision.')),
                        ('reason', models.CharField(blank=True, help_text='Why it was decided so, for the team.', max_length=300)),
                        ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('decided_at', models.DateTimeField(blank=True, null=True)),
                        ('last_seen_at', models.DateTimeField(help_text='When the platform last listed it.')),
                    ],
                    options={
                        'ordering': ['id'],
                        'indexes': [models.Index(fields=['campaign', 'status'], name='submission_campaign_status')],
                        'constraints': [models.UniqueConstraint(fields=('campaign', 'external_id'), name='submission_once_per_campaign'), models.CheckConstraint(condition=models.Q(models.Q(('decision', 'reject'), _negated=True), models.Q(models.Q(('category', ''), _negated=True), models.Q(('message', ''), _negated=True)), _connector='OR'), name='rejection_has_a_ground')],
                    },
                ),
                migrations.CreateModel(
                    name='PlatformCall',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='platform_calls', to='experiments.campaign')),
                        ('kind', models.CharField(choices=[('create', 'create the draft'), ('publish', 'publish'), ('add_places', 'add places'), ('pause', 'pause'), ('resume', 'resume'), ('stop', 'stop'), ('close', 'close'), ('approve', 'approve'), ('reject', 'reject'), ('request_return', 'ask to return'), ('prepare_bonuses', 'set up bonuses'), ('pay_bonuses', 'pay bonuses'), ('message', 'send a message')], max_length=16)),
                        ('key', models.CharField(help_text='The same for the same fact: the idempotency key at the platform.', max_length=64, unique=True)),
                        ('state', models.CharField(choices=[('planned', 'planned'), ('sent', 'being sent'), ('confirmed', 'confirmed'), ('failed', 'refused'), ('unknown', 'unknown'), ('cancelled', 'cancelled')], default='planned', max_length=9)),
                        ('submission', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='platform_calls', to='judgments.submission')),
                        ('request', models.JSONField(blank=True, default=dict, help_text='Arguments, without ids of persons.')),
                        ('response', models.JSONField(blank=True, default=dict, help_text='What the platform answered, or what a person settled.')),
                        ('problem', models.TextField(blank=True, help_text='What went wrong, what is safe, and what to do.')),
                        ('amount_minor', models.PositiveBigIntegerField(default=0, help_text='What people get, in minor units.')),
                        ('fee_minor', models.PositiveBigIntegerField(default=0)),
                        ('currency', models.CharField(max_length=3)),
                        ('external_id', models.CharField(blank=True, help_text='What the call created there.', max_length=100)),
                        ('n_attempts', models.PositiveIntegerField(default=0)),
                        ('needs_second_person', models.BooleanField(default=False)),
                        ('planned_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('second_person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('sent_at', models.DateTimeField(blank=True, null=True)),
                        ('settled_at', models.DateTimeField(blank=True, null=True)),
                        ('payments', models.ManyToManyField(blank=True, related_name='platform_calls', to='judgments.payment')),
                    ],
                    options={
                        'ordering': ['id'],
                        'indexes': [models.Index(fields=['campaign', 'state'], name='platform_call_campaign_state')],
                        'constraints': [models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}$')), name='platform_call_currency_iso'), models.CheckConstraint(condition=models.Q(('state__in', ['planned', 'cancelled']), ('sent_at__isnull', False), _connector='OR'), name='platform_call_sent_before_its_answer')],
                    },
                ),
                migrations.CreateModel(
                    name='Tombstone',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tombstones', to='experiments.experiment')),
                        ('n_sessions', models.PositiveIntegerField()),
                        ('n_judgments', models.PositiveIntegerField()),
                        ('reason', models.CharField(max_length=200)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['-at', '-id'],
                    },
                ),
                migrations.CreateModel(
                    name='Trial',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='judgments.session')),
                        ('position', models.PositiveIntegerField()),
                        ('kind', models.CharField(choices=[('target', 'target'), ('filler', 'filler'), ('catch', 'catch'), ('practice', 'practice'), ('anchor', 'anchor')], default='target', max_length=8)),
                        ('block', models.PositiveIntegerField(default=1)),
                        ('public_id', models.CharField(default=judgments.models.trial.new_public_id, max_length=24)),
                        ('item', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='experiments.item')),
                        ('sentence', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='experiments.sentence')),
                        ('pair', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='experiments.minimalpair')),
                        ('expected_first', models.BooleanField(blank=True, help_text='Forced choice: expected member on top.', null=True)),
                        ('shown', models.JSONField(blank=True, default=dict, help_text='What stood on the screen: {"options": [{"id", "sentence_id", "text"}], ...}, in order.')),
                        ('correct', models.JSONField(blank=True, default=dict, help_text='Catch and practice: the intended answer; never sent to a browser.')),
                        ('shown_at', models.DateTimeField(blank=True, help_text='Server clock at first showing.', null=True)),
                        ('attributes', models.JSONField(blank=True, default=dict, help_text='Further columns of an imported file.')),
                    ],
                    options={
                        'ordering': ['session', 'position'],
                        'constraints': [models.UniqueConstraint(fields=('session', 'position'), name='trial_position_once_per_session'), models.UniqueConstraint(fields=('session', 'public_id'), name='trial_public_id_once'), models.CheckConstraint(condition=models.Q(('position__gte', 1)), name='trial_position_from_one'), models.CheckConstraint(condition=models.Q(('kind__in', ['target', 'filler', 'catch', 'practice', 'anchor'])), name='trial_kind_known')],
                    },
                ),
                migrations.CreateModel(
                    name='SessionEvent',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='judgments.session')),
                        ('kind', models.CharField(help_text='reload, blur, conflict, paste, expired, ...', max_length=40)),
                        ('trial', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='judgments.trial')),
                        ('details', models.JSONField(blank=True, default=dict)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['id'],
                    },
                ),
                migrations.CreateModel(
                    name='Judgment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('trial', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='judgment', to='judgments.trial')),
                        ('status', models.CharField(choices=[('answered', 'answered'), ('missing', 'missing'), ('skipped', 'skipped'), ('timed_out', 'timed out')], default='answered', max_length=9)),
                        ('response', models.TextField(blank=True, help_text='The answer as given.')),
                        ('value', models.FloatField(blank=True, help_text='The answer on the scale.', null=True)),
                        ('chosen', models.ForeignKey(blank=True, help_text='Forced choice.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.sentence')),
                        ('scale_low', models.FloatField(blank=True, null=True)),
                        ('scale_high', models.FloatField(blank=True, null=True)),
                        ('is_correct', models.BooleanField(blank=True, help_text='Catch and practice trials only.', null=True)),
                        ('rt_ms', models.PositiveIntegerField(blank=True, help_text='Onset to answer; empty without JavaScript.', null=True)),
                        ('input_type', models.CharField(blank=True, choices=[('keyboard', 'keyboard'), ('mouse', 'mouse'), ('touch', 'touch'), ('pen', 'pen'), ('form', 'plain form, no JavaScript'), ('imported', 'imported'), ('', 'not known')], default='', max_length=8)),
                        ('timing', models.JSONField(blank=True, default=dict, help_text='Client clock, focus lost, page hidden, coarse clock and the like.')),
                        ('answered_at', models.DateTimeField(blank=True, help_text="Client clock or the source's.", null=True)),
                        ('received_at', models.DateTimeField(blank=True, help_text='Server clock.', null=True)),
                    ],
                    options={
                        'ordering': ['trial'],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('value__isnull', True), ('scale_low__isnull', True), ('value__gte', models.F('scale_low')), _connector='OR'), models.Q(('value__isnull', True), ('scale_high__isnull', True), ('value__lte', models.F('scale_high')), _connector='OR')), name='judgment_value_within_scale'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'answered'), _negated=True), ('value__isnull', False), _connector='OR'), name='answered_judgment_has_a_value')],
                    },
                ),
                migrations.CreateModel(
                    name='WebhookState',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='webhook_state', to='experiments.platformaccount')),
                        ('n_refused', models.PositiveIntegerField(default=0)),
                        ('refused_at', models.DateTimeField(blank=True, null=True)),
                        ('reason', models.CharField(blank=True, max_length=100)),
                    ],
                ),
            ]
        )
    ]
