#!/bin/sh
# Remove from an environment what the platform never opens. Usage: docker/slim.sh ENVIRONMENT
# The list is checked by a test that runs the platform on what is left (tests/deployment/test_slim.py).
set -eu

cd "$1"/lib/python3.*/site-packages

# Test suites and their data. Imports of the packages themselves need none of them.
for package in numpy pandas pyarrow scipy; do
    find "$package" -depth -type d -name tests -exec rm -rf {} +
done

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

# Names of countries and minor units of currencies are asked in English.
find babel/locale-data -type f ! -name 'en*.dat' ! -name root.dat -delete

# Symbols that only debuggers read. Not of NumPy, SciPy and psycopg: their libraries were moved by patchelf, and strip
# may write such files so that they cannot be loaded.
if command -v strip > /dev/null; then
    for library in pyarrow/libarrow*.so.* pyarrow/libparquet*.so.* pyarrow/*.cpython-*.so typst/*.so \
        cryptography/hazmat/bindings/*.so pandas/_libs/*.so pandas/_libs/*/*.so; do
        [ -L "$library" ] || strip --strip-unneeded "$library"
    done
fi
