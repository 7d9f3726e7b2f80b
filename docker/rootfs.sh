#!/bin/sh
# Gather the root file system of the image: Python and the Debian packages that it and the platform's packages load.
# Usage: docker/rootfs.sh ROOT PYTHON ENVIRONMENT, where PYTHON is the interpreter's prefix (/usr/local) and ENVIRONMENT
# the folder of the packages (/venv). Runs on Debian; a test runs the platform in such a root (test_slim.py).
set -eu
umask 022
root=$1 python=$2 environment=$3

# 1. Folders, as Debian lays them out, and the user of the processes.
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/local/bin" "$root/usr/local/lib" \
    "$root/etc" "$root/dev" "$root/proc" "$root/sys" "$root/run" "$root/var/lib/dpkg/info"
for folder in bin sbin lib lib64; do
    ln -sfn "usr/$folder" "$root/$folder"
done
install -d -m 1777 "$root/tmp" "$root/var/tmp"
install -d -m 700 "$root/root"
printf '%s\n' root:x:0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin \
    obelus:x:10001:10001::/var/obelus:/usr/sbin/nologin > "$root/etc/passwd"
printf '%s\n' root:x:0: nogroup:x:65534: obelus:x:10001: > "$root/etc/group"

# 2. Python without its tests, its windows, its installer, and modules that other systems need.
version=$(basename "$python"/lib/python3.*)
cp -a "$python/bin/$version" "$root/usr/local/bin/"
ln -sf "$version" "$root/usr/local/bin/python3"
ln -sf "$version" "$root/usr/local/bin/python"
for library in "$python"/lib/lib"$version"*.so.*; do
    [ ! -e "$library" ] || cp -a "$library" "$root/usr/local/lib/"
done
tar --create --directory "$python/lib" --exclude=__pycache__ --exclude="$version/site-packages/*" \
    --exclude="$version/config-*" --exclude="$version/test" --exclude=tests --exclude=idlelib --exclude=tkinter \
    --exclude=turtledemo --exclude=turtle.py --exclude=ensurepip --exclude=lib2to3 --exclude=pydoc_data \
    --exclude='_tkinter.*' --exclude='nis.*' --exclude='ossaudiodev.*' --exclude='_test*.so' --exclude='_ctypes_test*' \
    --exclude='xx*.so' "$version" | tar --extract --directory "$root/usr/local/lib"
if command -v strip > /dev/null; then
    find "$root/usr/local" -type f \( -name '*.so' -o -name '*.so.*' \) -exec strip --strip-unneeded {} +
fi

# 3. The packages of Debian whose libraries those files load, and a few files that libraries read.
libraries=$(find "$root/usr/local" "$environment" -type f \( -name '*.so' -o -name '*.so.*' -o -name "$version" \) \
    -exec ldd {} + 2> /dev/null | awk '$2 == "=>" && $3 ~ /^\/(usr\/)?lib/ { print $3 }' | sort -u)
packages="base-files busybox ca-certificates netbase tzdata libc6"
for library in $libraries; do
    inside=${library#/usr}
    packages="$packages $(dpkg-query --search "$inside" "/usr$inside" 2> /dev/null | sed -n '1s/:.*//p')"
done
packages=$(printf '%s\n' $packages | sort -u)
for package in $packages; do
    # Of the documentation the licences; messages in English; no converters of iconv, since Python has its own.
    dpkg-query --listfiles "$package" | grep -Ev \
        '^/usr/share/(bug|doc|doc-base|info|initramfs-tools|lintian|locale|man)(/|$)|/gconv(/|$)|^/usr/sbin/|^/var/' \
        | sed 's,^/,,'
    echo "usr/share/doc/$package/copyright"
done | sort -u | while read -r file; do
    # Folders come with their files, so that no folder takes the place of the links above.
    { [ -d "/$file" ] && [ ! -L "/$file" ]; } || [ ! -e "/$file" ] || echo "$file"
done | tar --create --directory / --no-recursion --files-from - \
    | tar --extract --directory "$root" --keep-directory-symlink
for file in etc/ssl etc/nsswitch.conf etc/ld.so.conf etc/ld.so.conf.d usr/lib/ssl usr/lib/locale/C.utf8; do
    [ ! -e "/$file" ] || tar --create --directory / --exclude=etc/ssl/private "$file" \
        | tar --extract --directory "$root" --keep-directory-symlink
done
for name in sh cat cp df du env id ls mkdir mv ps rm sleep tar; do
    ln -sf busybox "$root/usr/bin/$name"
done
ldconfig -r "$root"

# 4. What is installed, for scanners that look for packages with known faults.
for package in $packages; do
    dpkg-query --status "$package"
    echo
    cp -p /var/lib/dpkg/info/"$package"[.:]*list /var/lib/dpkg/info/"$package"[.:]*md5sums "$root/var/lib/dpkg/info/" \
        2> /dev/null || true
done > "$root/var/lib/dpkg/status"
