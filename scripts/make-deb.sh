#!/bin/sh
# SPDX-License-Identifier: MIT
# make-deb.sh OBJS - builds the package OBJS/srs_VERSION_ARCH.deb from the programs in OBJS.
#
# Program and web pages are in /usr/lib/srs, the configuration in /etc/srs, data in /var/lib/srs, logs in
# /var/log/srs. Needs dpkg-deb and binutils.
# DEB_MAINTAINER="Name <address>": maintainer of the package.
set -eu

objs=$1
cd "$(dirname "$0")/.."
arch=$(dpkg --print-architecture)
version=$("$objs/srs" -v 2>&1 | sed -n 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/p' | head -n 1)
[ -n "$version" ] || { echo "make-deb.sh: $objs/srs -v does not print a version" >&2; exit 1; }
tag=$(sed -n 's/^#define BUILD_TAG "\(..*\)"/\1/p' "$objs/config.h")
[ -z "$tag" ] || version=$version+$(printf %s "$tag" | tr -c 'A-Za-z0-9.+~\n' .)

. packaging/files.sh
umask 022
root=$(mktemp -d "$objs/deb.XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$root"
mkdir -p "$root/DEBIAN" "$root/usr/lib/srs" "$root/usr/bin" "$root/usr/lib/systemd/system" \
    "$root/etc/srs" "$root/etc/default" "$root/etc/logrotate.d" "$root/usr/share/doc/srs/examples"

install -m 755 "$objs/srs" "$root/usr/lib/srs/srs"
strip --strip-debug "$root/usr/lib/srs/srs"
ln -s ../lib/srs/srs "$root/usr/bin/srs"
for tool in $tools; do
    install -m 755 "$objs/$tool" "$root/usr/bin/"
    strip --remove-section=.comment --remove-section=.note "$root/usr/bin/$tool"
done
cp -r "$objs/console" "$root/usr/lib/srs/"
[ ! -d "$objs/player" ] || cp -r "$objs/player" "$root/usr/lib/srs/"

# These files may contain passwords, so they are never world-readable, not even before postinst runs.
install -m 640 packaging/deb/srs.conf "$root/etc/srs/srs.conf"
install -m 640 packaging/deb/default "$root/etc/default/srs"
sed 's, */usr/local/srs/objs/srs.log,,; s, /usr/local/srs/objs/srs.pid,,' etc/logrotate.d/srs \
    > "$root/etc/logrotate.d/srs"
# The unit for /usr/local/srs, with the paths of the package and without the commands for manual installation.
sed -e '/^#   useradd /d; /^#   install -d /d; /^#   cp etc\//d; /^#   systemctl enable /d' \
    -e 's,/usr/local/srs/objs/srs,/usr/lib/srs/srs,; s,/usr/local/srs/conf/,/etc/srs/,' \
    -e 's,/usr/local/srs/doc,/usr/share/doc/srs,; s,^WorkingDirectory=.*,WorkingDirectory=/var/lib/srs,' \
    -e '/^ReadWritePaths=-\/usr\/local/d' -e '/^Environment=SRS_\(PID\|SRS_LOG_FILE\|FF_LOG_DIR\)=/d' \
    etc/systemd/srs.service > "$root/usr/lib/systemd/system/srs.service"
! grep -n /usr/local "$root/usr/lib/systemd/system/srs.service" "$root/etc/logrotate.d/srs" || exit 1

seconds=$(date -u -d "$(sed -n 's/^#define BUILD_DATE "\(.*\)"/\1/p' "$objs/config.h")" +%s)
maintainer=${DEB_MAINTAINER:-The maintainers <maintainers@srs.example>}
packaging/man/make-man.sh "$objs" "$version" "$(date -u -d "@$seconds" +%F)" "$root/usr/share/man"
sed "s/@VERSION@/$version/; s/@MAINTAINER@/$maintainer/; s/@DATE@/$(LC_ALL=C date -u -R -d "@$seconds")/" \
    packaging/deb/changelog > "$root/usr/share/doc/srs/changelog"
gzip -9n "$root"/usr/share/man/man*/* "$root/usr/share/doc/srs/changelog"
completions=$root/usr/share/bash-completion/completions
install -D -m 644 packaging/bash-completion/srs "$completions/srs"
for tool in $tools; do
    ln -s srs "$completions/$tool"
done
install -D -m 644 packaging/deb/lintian-overrides "$root/usr/share/lintian/overrides/srs"

doc=$root/usr/share/doc/srs
# shellcheck disable=SC2086
install -m 644 $pages "$doc/"
mv "$doc/README.md" "$doc/contents.md"
# shellcheck disable=SC2046,SC2086
install -m 644 $(echo $top_pages | sed "s/ LICENSE / /") "$doc/" # LICENSE is in copyright
# All pages are in one folder, the configurations in a subfolder.
sed -i 's,](\(doc/\)\{0\,1\}README\.md,](contents.md,g; s,](doc/,](,g; s,src="doc/,src=",g
    s,](\(\.\./\)\{0\,1\}conf/,](examples/,g; s,](\(\.\./\)\{0\,1\}etc/\([a-z]*/\)\{0\,1\},](examples/,g
    s,](\.\./\([A-Z]*\.md\),](\1,g' "$doc"/*.md
install -m 644 conf/*.conf etc/sysctl.d/60-srs.conf doc/source.flv etc/backend.py etc/sign-link.py etc/healthcheck.sh \
    etc/grafana/* etc/prometheus/* "$doc/examples/"
put_rtmfp "$doc/examples"
# Debian ships the text of this license.
license() { # file
    sed '/^ *Apache License$/,/^ *END OF TERMS/d; /^ *APPENDIX: /,/^ *Copyright/{/^ *Copyright/!d}' "$1"
    ! grep -q 'Apache License' "$1" ||
        printf '\nOn Debian systems the Apache License, Version 2.0, is in /usr/share/common-licenses/Apache-2.0\n'
}
{
    echo "The server:"
    echo
    cat LICENSE
    for f in "$root"/usr/lib/srs/player/*.LICENSE; do
        [ ! -f "$f" ] || { echo; echo "player/$(basename "$f" .LICENSE) of the console:"; echo; license "$f"; }
    done
} > "$root/usr/share/doc/srs/copyright"

# Dependencies: packages of the libraries that the program links.
depends=
for lib in $(objdump -p "$objs/srs" | sed -n 's/^  NEEDED  *//p'); do
    path=$(ldd "$objs/srs" | sed -n "s,^[[:space:]]*$lib => \(/[^ ]*\).*,\1,p")
    [ -n "$path" ] || continue
    # /lib links to /usr/lib, so the package may list the file without /usr. Requires the exact path,
    # because libraries of other architectures have the same names.
    path=$(readlink -f "$path")
    package=$(dpkg-query -S "$path" "${path#/usr}" 2> /dev/null | head -n 1 | cut -d: -f1) || true
    [ -n "$package" ] || { echo "make-deb: no package has $path" >&2; exit 1; }
    # Symbols of the C library are versioned, so require this version or later.
    case $package in
    libc6) need="libc6 (>= $(dpkg-query -W -f '${Version}' libc6 | sed 's/-.*//'))" ;;
    *) need=$package ;;
    esac
    case ", $depends," in
    *", $need,"*) ;;
    *) depends="${depends:+$depends, }$need" ;;
    esac
done

size=$(du -sk "$root" | cut -f1)
sed -e "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@SIZE@/$size/; s/@DEPENDS@/$depends/" \
    -e "s/@MAINTAINER@/$maintainer/" \
    packaging/deb/control.in > "$root/DEBIAN/control"
install -m 644 packaging/deb/conffiles "$root/DEBIAN/"
install -m 755 packaging/deb/postinst packaging/deb/prerm packaging/deb/postrm "$root/DEBIAN/"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -print | sed 's,^\./,,' | sort |
    xargs -d '\n' md5sum) > "$root/DEBIAN/md5sums"

out=$objs/srs_${version}_$arch.deb
dpkg-deb --root-owner-group --build "$root" "$root.new" > /dev/null
mv "$root.new" "$out"
echo "$out"
