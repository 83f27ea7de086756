#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh build|test|check|long|browser|desktop|cross|bench|profile... - installs missing Debian packages of these sets.
set -eu

build="gcc libc6-dev make binutils patch tar gzip libssl-dev
    libhttp-parser-dev libjansson-dev zlib1g-dev libavcodec-dev libswresample-dev libopus-dev
    ca-certificates"
required="libcmocka-dev python3 python3-pytest"
test="$build $required python3-pytest-xdist universal-ctags ffmpeg gstreamer1.0-tools
    gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
    gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-rtsp vlc-bin vlc-plugin-base nginx-light
    libnginx-mod-rtmp libnginx-mod-stream rtmpdump srt-tools procps curl openssl
    python3-cryptography python3-yaml"
browser="chromium npm firefox-esr zbar-tools"
desktop="obs-studio obs-plugins xvfb libgl1-mesa-dri vlc-plugin-video-output"
cross="gcc-aarch64-linux-gnu qemu-user"
check="clang gcovr"
long="prometheus debootstrap lintian g++ golang-go python3-pip python3-gi gir1.2-gst-rtsp-server-1.0
    gir1.2-gst-plugins-bad-1.0 gstreamer1.0-nice
    $cross"
bench="$build python3 nginx-light libnginx-mod-rtmp gnuplot-nox ffmpeg procps util-linux
    srt-tools"
profile="$build python3 python3-pytest procps util-linux libgoogle-perftools-dev google-perftools
    valgrind gdb linux-perf strace ltrace graphviz"

wanted=
for set in "$@"; do
    case $set in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    long) wanted="$wanted $long" ;;
    cross) wanted="$wanted $cross" ;;
    browser) wanted="$wanted $browser" ;;
    desktop) wanted="$wanted $desktop" ;;
    check) wanted="$wanted $check" ;;
    bench) wanted="$wanted $bench" ;;
    profile) wanted="$wanted $profile" ;;
    *) echo "install.sh: unknown set $set (build, test, check, long, browser, desktop, cross, bench, profile)" >&2; exit 1 ;;
    esac
done

# Any variant of nginx is sufficient, including one built from source.
there() {
    case $1 in
    nginx-light) [ -x /usr/sbin/nginx ] && return 0 ;;
    npm | chromium) command -v "$1" > /dev/null 2>&1 && return 0 ;;
    golang-go) command -v go > /dev/null 2>&1 && return 0 ;;
    gcc) command -v "${CC:-gcc}" > /dev/null 2>&1 && return 0 ;;
    esac
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2> /dev/null | grep -qx installed
}

if ! command -v dpkg-query > /dev/null 2>&1 || ! command -v apt-get > /dev/null 2>&1; then
    echo "install.sh: this is not Debian; install the equivalents of these packages:" $wanted >&2
    exit 0
fi

missing=
for p in $wanted; do
    case " $missing " in
    *" $p "*) ;;
    *) there "$p" || missing="$missing $p" ;;
    esac
done
[ -n "$missing" ] || exit 0

line="apt-get update && apt-get install -y --no-install-recommends$missing"
may_sudo() { # requests a password only on a terminal
    command -v sudo > /dev/null 2>&1 || return 1
    sudo -n true 2> /dev/null || { [ -t 0 ] && sudo true; }
}
as_root=
if [ "$(id -u)" != 0 ]; then
    may_sudo || {
        echo "install.sh: packages are missing, and you are not root and cannot use sudo. Run as root:" >&2
        echo "    $line" >&2
        exit 1
    }
    as_root=sudo
fi

echo "installing$missing"
# Does not start services of installed packages (nginx): the tests start their own.
policy=/usr/sbin/policy-rc.d
# Asks no questions and keeps existing configuration files. Waits for other installations, which run on
# machines that have just started.
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q -y \
        --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" < /dev/null
}
mask() {
    [ ! -e $policy ] || return 0
    masked=1
    printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy > /dev/null
    $as_root chmod 755 $policy
}
log=$(mktemp)
masked=
trap 'rm -f "$log"; [ -z "$masked" ] || $as_root rm -f $policy' EXIT
trap 'exit 1' HUP INT TERM
case "$missing " in
*" nginx-light "* | *" prometheus "*) mask ;;
esac

has_none() { # package: not in the package sources
    ! LC_ALL=C apt-cache policy "$1" 2> /dev/null | grep -q '^ *Candidate: [^(]'
}

# Package lists may be missing or old: updates them only if the installation fails.
# shellcheck disable=SC2086
apt install $missing > "$log" 2>&1 && exit 0
apt update || echo "install.sh: some package sources do not respond; continuing with the others"
known=
for p in $missing; do
    if ! has_none "$p"; then
        known="$known $p"
        continue
    fi
    case " $build $required " in
    *[[:space:]]"$p"[[:space:]]*)
        echo "install.sh: the package sources do not contain $p (on Ubuntu it is in universe)" >&2
        exit 1 ;;
    esac
    echo "install.sh: the package sources do not contain $p: parts that need it are skipped"
done
# shellcheck disable=SC2086
apt install $known || {
    echo "install.sh: this command failed, see above: apt-get install$known" >&2
    exit 1
}
