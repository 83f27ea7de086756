#!/bin/sh
# SPDX-License-Identifier: MIT
# sysroot.sh ARCH DIR - installs headers and libraries of another architecture to DIR.
#
# They come from the package sources of the machine, in a private state of apt below DIR. This needs neither root
# nor "dpkg --add-architecture", and does not change the system.
set -eu

arch=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
packages="libc6-dev libgcc-s1 libssl-dev libhttp-parser-dev libjansson-dev zlib1g-dev libcmocka-dev"
[ "$(cat "$dir/.packages" 2> /dev/null)" != "$packages" ] || exit 0

find "$dir" -mindepth 1 -delete
mkdir -p "$dir/apt/state/lists/partial" "$dir/apt/cache/archives/partial"
: > "$dir/apt/status"
ask() {
    apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures::="$arch" \
        -o Dir::State="$dir/apt/state" -o Dir::State::lists="$dir/apt/state/lists" \
        -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt/cache" \
        -o APT::Sandbox::User= -o Acquire::Languages=none \
        -o Acquire::Retries=2 "$@" >&2
}
echo "sysroot: requesting packages for $arch" >&2
ask update
# shellcheck disable=SC2086
ask install -y --download-only --no-install-recommends $packages || {
    echo "sysroot: the package sources do not contain $packages for $arch" >&2
    exit 1
}
mkdir -p "$dir/usr/lib"
ln -s usr/lib "$dir/lib" # packages use both
for deb in "$dir"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" --keep-directory-symlink --no-same-owner
done
# Makes absolute links relative to DIR.
find "$dir" -type l -lname '/*' | while read -r link; do
    ln -sfr "$dir$(readlink "$link")" "$link"
done
rm -rf "$dir/apt"
echo "$packages" > "$dir/.packages"
