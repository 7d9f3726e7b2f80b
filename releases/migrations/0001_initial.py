import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from experiments.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('experiments', '0001_initial'),
        ('judgments', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels(
            models=[
                migrations.CreateModel(
                    name='ScorerSpec',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('spec_id', models.CharField(help_text='SHA-256 of the specification.', max_length=64, unique=True)),
                        ('spec', models.JSONField()),
                        ('software', models.JSONField(blank=True, default=dict, help_text='Versions its scores were made or checked with; not in the key.')),
                        ('sentences_per_s', models.FloatField(blank=True, help_text='Of one process, when last scored.', null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['id'],
                    },
                ),
                migrations.CreateModel(
                    name='CachedScore',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('scorer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='cached', to='releases.scorerspec')),
                        ('sentence_sha', models.BinaryField(help_text='SHA-256 of the sentence in UTF-8.', max_length=32)),
                        ('logprob', models.FloatField(help_text='Natural logarithm; none where it is not finite.', null=True)),
                        ('unigram_logprob', models.FloatField(null=True)),
                        ('n_tokens', models.PositiveIntegerField()),
                        ('n_words', models.PositiveIntegerField()),
                        ('n_chars', models.PositiveIntegerField()),
                        ('n_unk', models.PositiveIntegerField()),
                        ('flags', models.PositiveSmallIntegerField(default=0)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('scorer', 'sentence_sha'), name='cached_once_per_scorer_and_sentence')],
                    },
                ),
                migrations.CreateModel(
                    name='ScoreShard',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('scorer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='shards', to='releases.scorerspec')),
                        ('number', models.PositiveIntegerField(help_text='From 1, by scorer.')),
                        ('sentences', models.JSONField(help_text='Ids of the sentences, neighbours sharing beginnings.')),
                        ('n_sentences', models.PositiveIntegerField()),
                        ('n_done', models.PositiveIntegerField(default=0)),
                        ('state', models.CharField(choices=[('queued', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=8)),
                        ('attempts', models.PositiveIntegerField(default=0, help_text='Counts the claims; a stale one stores no end.')),
                        ('lease_until', models.DateTimeField(blank=True, null=True)),
                        ('seconds', models.FloatField(blank=True, help_text='Scoring alone, without opening the model.', null=True)),
                        ('error', models.TextField(blank=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ],
                    options={
                        'ordering': ['scorer', 'number'],
                        'indexes': [models.Index(fields=['scorer', 'state'], name='shard_scorer_state')],
                        'constraints': [models.UniqueConstraint(fields=('scorer', 'number'), name='shard_number_once_per_scorer'), models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='shard_state_known')],
                    },
                ),
                migrations.CreateModel(
                    name='DeviationReason',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deviation_reasons', to='experiments.experiment')),
                        ('key', models.CharField(help_text='Key of the row in the list of deviations.', max_length=200)),
                        ('text', models.TextField(blank=True, help_text='Empty: the reason was withdrawn.')),
                        ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['experiment', 'key', '-id'],
                    },
                ),
                migrations.CreateModel(
                    name='ExclusionPlan',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusion_plans', to='experiments.experiment')),
                        ('name', models.SlugField(max_length=60)),
                        ('version', models.PositiveIntegerField(default=1)),
                        ('steps', models.JSONField(default=list)),
                        ('sha256', models.CharField(max_length=64)),
                        ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('locked_before_first_response', models.BooleanField(default=False, help_text='Preregistered.')),
                        ('is_current', models.BooleanField(default=False, help_text='Used by all results of the study unless another plan is chosen.')),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['experiment', 'name', '-version'],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('experiment',), name='one_current_plan_per_study'), models.UniqueConstraint(fields=('experiment', 'name', 'version'), name='plan_version_once'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='plan_version_positive')],
                    },
                ),
                migrations.CreateModel(
                    name='Exclusion',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('plan', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusions', to='releases.exclusionplan')),
                        ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusions', to='judgments.session')),
                        ('trial', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='exclusions', to='judgments.trial')),
                        ('step', models.CharField(max_length=60)),
                        ('reason', models.CharField(blank=True, max_length=300)),
                    ],
                    options={
                        'ordering': ['id'],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('trial__isnull', True)), fields=('plan', 'session'), name='session_excluded_once_per_plan'), models.UniqueConstraint(condition=models.Q(('trial__isnull', False)), fields=('plan', 'trial'), name='trial_excluded_once_per_plan')],
                    },
                ),
                migrations.CreateModel(
                    name='Look',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='experiments.experiment')),
                        ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('n_judgments', models.PositiveIntegerField(help_text='Judgments there were.')),
                        ('where', models.CharField(help_text='The page, or command.', max_length=20)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['experiment', 'at', 'id'],
                        'constraints': [models.UniqueConstraint(fields=('experiment', 'user', 'n_judgments'), name='look_once_per_state_of_the_data')],
                    },
                ),
                migrations.CreateModel(
                    name='Release',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='experiments.experiment')),
                        ('number', models.PositiveIntegerField()),
                        ('title', models.CharField(blank=True, max_length=200)),
                        ('plan', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='releases.exclusionplan')),
                        ('options', models.JSONField(blank=True, default=dict, help_text='Exclusions, rule, ties and seed, as asked for.')),
                        ('state', models.CharField(choices=[('building', 'being built'), ('ready', 'ready'), ('failed', 'failed')], default='building', max_length=8)),
                        ('storage_key', models.CharField(blank=True, help_text='Folder in the release storage.', max_length=300)),
                        ('manifest', models.JSONField(blank=True, default=dict)),
                        ('sha256', models.CharField(blank=True, help_text='Of manifest.json.', max_length=64)),
                        ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='experiments.job')),
                        ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['experiment', '-number'],
                        'constraints': [models.UniqueConstraint(fields=('experiment', 'number'), name='release_number_once'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'ready'), _negated=True), models.Q(('sha256', ''), _negated=True), _connector='OR'), name='ready_release_has_checksum')],
                    },
                ),
                migrations.CreateModel(
                    name='Publication',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='publications', to='releases.release')),
                        ('place', models.CharField(choices=[('huggingface', 'Hugging Face'), ('zenodo', 'Zenodo'), ('osf', 'OSF')], max_length=12)),
                        ('target', models.CharField(blank=True, help_text='ORG/NAME on Hugging Face.', max_length=200)),
                        ('mode', models.CharField(choices=[('test', 'test'), ('live', 'live')], default='test', help_text="Test: in the repository's sandbox.", max_length=4)),
                        ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='experiments.platformaccount')),
                        ('is_public', models.BooleanField(default=False, help_text='Asked for; a draft otherwise.')),
                        ('state', models.CharField(choices=[('sending', 'being sent'), ('done', 'verified'), ('failed', 'failed')], default='sending', max_length=8)),
                        ('marker', models.UUIDField(default=uuid.uuid4, editable=False, help_text='Sent along, so that a deposit is found again.')),
                        ('deposit_id', models.CharField(blank=True, max_length=200)),
                        ('address', models.URLField(blank=True, max_length=500)),
                        ('doi', models.CharField(blank=True, help_text='Reserved while the deposit is a draft.', max_length=200)),
                        ('is_open', models.BooleanField(default=False, help_text='Public in the repository, when last verified.')),
                        ('facts', models.JSONField(blank=True, default=dict, help_text='Files, bytes and revision as verified.')),
                        ('error', models.TextField(blank=True)),
                        ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='experiments.job')),
                        ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('verified_at', models.DateTimeField(blank=True, null=True)),
                    ],
                    options={
                        'ordering': ['release', 'id'],
                        'constraints': [models.UniqueConstraint(fields=('release', 'place', 'target', 'mode'), name='publication_once_per_place')],
                    },
                ),
                migrations.CreateModel(
                    name='ScoringRun',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('material_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scoring_runs', to='experiments.materialset')),
                        ('name', models.CharField(help_text='Shown in tables.', max_length=200)),
                        ('model', models.CharField(help_text='URI, such as arpa:models/trigram.arpa.', max_length=500)),
                        ('revision', models.CharField(blank=True, help_text='Commit or SHA-256 of what was run.', max_length=100)),
                        ('method', models.CharField(default='lp', max_length=40)),
                        ('spec', models.JSONField(blank=True, default=dict)),
                        ('state', models.CharField(choices=[('queued', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=8)),
                        ('n_sentences', models.PositiveIntegerField(default=0)),
                        ('n_missing', models.PositiveIntegerField(default=0)),
                        ('scorer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='releases.scorerspec')),
                        ('n_distinct', models.PositiveIntegerField(default=0, help_text='Different sentences it needs scores of.')),
                        ('n_cached', models.PositiveIntegerField(default=0, help_text='Of these, known before it began.')),
                        ('error', models.TextField(blank=True)),
                        ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='experiments.job')),
                        ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='scoring_runs', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('shards', models.ManyToManyField(blank=True, related_name='runs', to='releases.scoreshard')),
                    ],
                    options={
                        'ordering': ['-created_at', '-id'],
                    },
                ),
                migrations.CreateModel(
                    name='Comparison',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comparisons', to='releases.release')),
                        ('title', models.CharField(blank=True, max_length=200)),
                        ('options', models.JSONField(blank=True, default=dict)),
                        ('report', models.JSONField(blank=True, default=dict)),
                        ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='experiments.job')),
                        ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('runs', models.ManyToManyField(related_name='comparisons', to='releases.scoringrun')),
                    ],
                    options={
                        'ordering': ['-created_at', '-id'],
                    },
                ),
                migrations.CreateModel(
                    name='SentenceScore',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='releases.scoringrun')),
                        ('sentence', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='experiments.sentence')),
                        ('score', models.FloatField(help_text="By the run's method; natural logarithms.")),
                        ('logprob', models.FloatField(blank=True, null=True)),
                        ('n_tokens', models.PositiveIntegerField(blank=True, null=True)),
                        ('n_unknown', models.PositiveIntegerField(blank=True, null=True)),
                    ],
                    options={
                        'ordering': ['run', 'sentence'],
                        'constraints': [models.UniqueConstraint(fields=('run', 'sentence'), name='score_once_per_run_and_sentence')],
                    },
                ),
            ]
        )
    ]
