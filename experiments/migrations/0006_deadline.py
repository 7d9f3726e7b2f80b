from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0005_request_keys'),
    ]

    operations = [
        migrations.AddField(
            model_name='experiment',
            name='deadline_ms',
            field=models.PositiveIntegerField(blank=True, help_text='Time for each answer in ms, from the onset of the trial; empty = no limit.', null=True, validators=[MinValueValidator(500), MaxValueValidator(600000)]),
        ),
        migrations.AddField(
            model_name='experiment',
            name='deadline_bar',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether a bar shows the time that is left.'),
        ),
    ]
