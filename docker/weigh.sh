#!/bin/sh
# Weigh what docker/Dockerfile puts into the image, without a Docker engine. Usage: docker/weigh.sh PYTHON
# PYTHON is an interpreter of the version that the Dockerfile names, of an installation of its own. As root on Debian
# with binutils, busybox, netbase, fonts-noto-core and fonts-noto-cjk, from the folder of the project. Prints MB.
set -eu
python=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
root=$work/root

# The stage "packages"
"$python" -m venv --without-pip "$work/venv"
"$python" -m pip --python "$work/venv/bin/python" --quiet install --no-compile --require-hashes -r lock/base.txt
docker/slim.sh "$work/venv"
docker/rootfs.sh "$root" "$prefix" "$work/venv"
cp -a "$work/venv" "$root/venv"
ln -sf /usr/local/bin/python "$root/venv/bin/python"
sed -i 's,^home = .*,home = /usr/local/bin,' "$root/venv/pyvenv.cfg"

# The stage "build", of the files that .dockerignore lets in
mkdir "$root/app"
git ls-files -z LICENSE manage.py mkdocs.yml pyproject.toml lock/replication.txt analysis config docker docs experiments \
    judgments releases static ':!docs/pictures' | tar --create --null --files-from - | tar --extract --directory "$root/app"
SECRET_KEY=of-this-run-only-0123456789abcdef unshare --mount env -u PYTHONPATH -u DATABASE_URL -u PYTHONDONTWRITEBYTECODE \
    PATH=/venv/bin:/usr/local/bin:/usr/bin:/usr/sbin:/sbin:/bin VAR_DIR=/tmp/build STATIC_ROOT=/app/collected HOME=/tmp \
    sh -ec 'mount --rbind /dev "$1/dev"; mount -t proc proc "$1/proc"; exec chroot "$1" sh -ec "cd /app
        python manage.py collectstatic --no-input --verbosity 0; python -m docker.import_all
        python docker/drop_sources.py /venv/lib /usr/local/lib"' - "$root"
rm -rf "$root/tmp/build" "$root"/venv/lib/python3.*/site-packages/django/contrib/admin/static
docker/fonts.sh "$root/usr/share/fonts/noto"

weigh() { find "$@" -type f -printf '%s\n' | awk '{ sum += $1 } END { printf "%.0f", sum / 1e6 }'; }
for part in venv usr/local app usr/share/fonts/noto .; do
    echo "$(weigh "$root/$part") MB  /$part"
done
