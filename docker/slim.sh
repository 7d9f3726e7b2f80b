#!/bin/sh
# Remove from an environment what the platform never opens. Usage: docker/slim.sh ENVIRONMENT
# The list is checked by a test that runs the platform on what is left (tests/deployment/test_slim.py).
set -eu

cd "$1"/lib/python3.*/site-packages

# Test suites and their data. Imports of the packages themselves need none of them.
for package in certifi csp jsonschema jsonschema_specifications matplotlib numpy pandas pyarrow qrcode referencing scipy \
    sklearn statsmodels xarray; do
    find "$package" -depth -type d -name tests -exec rm -rf {} +
done
rm -rf jsonschema/benchmarks

# Example data.
find statsmodels/datasets pingouin/datasets -type f -name '*.csv' ! -name datasets.csv -delete
rm -rf sklearn/datasets/data sklearn/datasets/images matplotlib/mpl-data/sample_data

# Sources, headers and stubs: for compilers and editors. Catalogues of messages are read in their compiled form.
find . -type f \( -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.pyi' -o -name '*.h' -o -name '*.hpp' \
    -o -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.f' -o -name '*.f90' -o -name '*.a' -o -name '*.po' \
    -o -name '*.pot' \) -delete
rm -rf pyarrow/include pyarrow/src

# Arrow's clients of remote services: files on S3 are read by boto3, and nothing speaks Flight.
rm -f pyarrow/libarrow_flight* pyarrow/libarrow_python_flight* pyarrow/_flight* \
    pyarrow/libarrow_s3* pyarrow/_s3fs* pyarrow/_gcsfs* pyarrow/_azurefs* pyarrow/_hdfs* pyarrow/_pyarrow_cpp_tests*

# A wheel cannot hold links, so it has each of these libraries under three names.
for library in pyarrow/libarrow_python*.so.*.*.*; do
    short=${library%.*.*}
    ln -sf "${library##*/}" "$short"
    ln -sf "${library##*/}" "${short%.*}"
done

# Services of AWS: files, payments, and the roles that a server has there.
find botocore/data -mindepth 1 -maxdepth 1 -type d \
    ! -name s3 ! -name mturk ! -name sts ! -name sso ! -name sso-oidc ! -name signin -exec rm -rf {} +
find boto3/data -mindepth 1 -maxdepth 1 -type d ! -name s3 -exec rm -rf {} +
rm -rf boto3/examples

# Messages in languages that the participant's pages do not have; the rest of the platform is in English.
find . -path '*/locale/*' -name '*.mo' ! -path '*/ar/*' ! -path '*/de/*' ! -path '*/en/*' ! -path '*/es/*' ! -path '*/fr/*' \
    ! -path '*/it/*' ! -path '*/ja/*' ! -path '*/ko/*' ! -path '*/nl/*' ! -path '*/pt/*' ! -path '*/ru/*' ! -path '*/tr/*' \
    ! -path '*/zh_Hans/*' -delete

# Django's apps that are not installed: geography, static pages, redirects.
rm -rf django/contrib/gis django/contrib/flatpages django/contrib/redirects

# The API answers in JSON only: no pages to browse it.
rm -rf rest_framework/static

# Log-in by OpenID Connect and ORCID; the other services of django-allauth are not installed.
find allauth/socialaccount/providers -mindepth 1 -maxdepth 1 -type d \
    ! -name base ! -name oauth ! -name oauth2 ! -name openid_connect ! -name orcid -exec rm -rf {} +

# Modules for the tests of NumPy and SciPy; colours for the code of languages other than Python.
rm -f numpy/_core/_simd.*
find numpy scipy \( -name '_test_*.so' -o -name '*_tests.*.so' -o -name '_ctest.*.so' -o -name '_cytest.*.so' \) -delete
find pygments/lexers -type f ! -name '__init__.py' ! -name '_mapping.py' ! -name python.py ! -name special.py -delete

# Names of countries and minor units of currencies are asked in English.
find babel/locale-data -type f ! -name 'en*.dat' ! -name root.dat -delete

# Symbols that only debuggers read. Not of the libraries that wheels bring along (*.libs): patchelf has moved their parts, and
# SciPy's OpenBLAS can no longer be loaded after strip.
if command -v strip > /dev/null; then
    find . -type f \( -name '*.so' -o -name '*.so.*' \) ! -path './*.libs/*' -exec strip --strip-unneeded {} +
fi

# Every module of Arrow names this library, and only plans of other query engines (Substrait) use it: an empty one takes its place.
if command -v as > /dev/null && command -v ld > /dev/null; then
    for library in pyarrow/libarrow_substrait.so.*; do
        as -o empty.o /dev/null
        ld -shared --soname "${library##*/}" -o "$library" empty.o
        rm empty.o
    done
    rm -f pyarrow/_substrait.*
fi
