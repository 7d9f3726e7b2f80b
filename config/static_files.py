"""Static files under names that carry their content's hash, module imports of the trial engine included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """An engine's module and the modules it imports always come from one release of the code."""

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = (
        "js/engine/*.js",  # ours only: other packages' scripts are left as they are
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )
