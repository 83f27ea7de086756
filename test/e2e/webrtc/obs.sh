#!/bin/sh
# SPDX-License-Identifier: MIT
# obs.sh - make objs/webrtc/obs: Debian 13 with its OBS 30.2, and OBS's plugin for WHIP, which Debian leaves out for want of
# libdatachannel: built of Debian's source of OBS, and of the sources in the crate datachannel-sys. For test_rtc_obs.py; as root,
# with debootstrap and cargo. Ten minutes, 2 GB.
set -eu
cd "$(dirname "$0")/../../.."
root=$PWD/objs/webrtc/obs
new=$root.new
mirror=$(sed -n 's/^\(URIs:\|deb\) *\(http[^ ]*\/debian\)\( .*\|\)$/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null | head -n 1)
[ ! -d "$root" ] || { echo "it is there: $root"; exit 0; }
for tool in debootstrap cargo unshare; do
    command -v $tool > /dev/null || { echo "obs.sh: no $tool" >&2; exit 1; }
done
rm -rf "$new"
mkdir -p "$new"

[ -n "$mirror" ] || { echo "obs.sh: no mirror of Debian in /etc/apt" >&2; exit 1; }
debootstrap --variant=minbase --include=ca-certificates trixie "$new" "$mirror"
for f in /etc/resolv.conf /etc/hosts; do
    cp "$f" "$new/etc/"
done
sed -i 's/^deb \(.*\)/&\ndeb-src \1/' "$new/etc/apt/sources.list"

mkdir -p "$new/b/crate/src"
cat > "$new/b/crate/Cargo.toml" << END
[package]
name = "sources"
version = "0.1.0"
[dependencies]
datachannel-sys = { version = "=0.23.0", features = ["media"] }
END
: > "$new/b/crate/src/lib.rs"
(cd "$new/b/crate" && cargo vendor -q vendor > /dev/null)

cat > "$new/b/make.sh" << 'END'
set -eu
export DEBIAN_FRONTEND=noninteractive
lib=/usr/lib/x86_64-linux-gnu
[ -d $lib ] || lib=/usr/lib/$(uname -m)-linux-gnu
apt-get -q update
apt-get -q -y --no-install-recommends install obs-studio obs-plugins libgl1-mesa-dri libobs-dev libcurl4-openssl-dev libssl-dev \
    libx11-dev libsimde-dev g++ cmake make pkg-config xz-utils dpkg-dev
cd /b
apt-get -q source --download-only obs-studio || [ -e obs-studio_*.orig.tar.xz ]
mkdir obs
tar xJf obs-studio_*.orig.tar.xz -C obs --strip-components=1 --wildcards '*/plugins/obs-webrtc/*'
cd /b/crate/vendor/datachannel-sys/libdatachannel
cmake -S . -B out -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DNO_WEBSOCKET=ON -DNO_EXAMPLES=ON -DNO_TESTS=ON \
    -DUSE_NICE=OFF -DPREFER_SYSTEM_LIB=OFF -DBUILD_SHARED_LIBS=ON -DBUILD_SHARED_DEPS_LIBS=OFF
cmake --build out -j2 --target datachannel
cp -a out/libdatachannel.so* "$lib/"
cp -r include/rtc /usr/include/
cd /b/obs/plugins/obs-webrtc
g++ -std=c++17 -O1 -w -fPIC -shared -I/usr/include/obs -o "$lib/obs-plugins/obs-webrtc.so" *.cpp -lobs -ldatachannel -lcurl
mkdir -p /usr/share/obs/obs-plugins/obs-webrtc
cp -r data/* /usr/share/obs/obs-plugins/obs-webrtc/
rm -rf /b /var/lib/apt/lists /var/cache/apt
END
unshare -m sh -c 'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot "$0" sh /b/make.sh' "$new"
mv "$new" "$root"
