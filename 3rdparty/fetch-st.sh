#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch-st.sh DIR [ETC] - downloads the source tarball of state-threads 1.9 to DIR.
#
# The tarball belongs to the source package `st` of Debian and Ubuntu. It comes from the package sources of the
# machine (ETC/apt, /etc/apt), with deb-src instead of deb, in a private state of apt below DIR, so the system
# does not change. Only the tarball is requested, because some mirrors lack the other files of the package.
# ST_TARBALL=/path/to/st_1.9.orig.tar.gz uses that file instead, without a network.
set -eu

name=st_1.9.orig.tar.gz
sum=b10d6f25bded6fedd5d22d950fc60ae137f363e14456e35ba7b295e0924a7db1

mkdir -p "$1"
dir=$(cd "$1" && pwd)
etc=${2:-/etc}
tarball=$dir/$name

good() {
    [ -f "$1" ] && [ "$(sha256sum < "$1" | cut -d ' ' -f 1)" = "$sum" ]
}

if [ -n "${ST_TARBALL:-}" ]; then
    good "$ST_TARBALL" || {
        echo "fetch-st: $ST_TARBALL is not $name (sha256 $sum)" >&2
        exit 1
    }
    cp "$ST_TARBALL" "$tarball.new"
    mv "$tarball.new" "$tarball"
    exit 0
fi
good "$tarball" && exit 0

# Each package source gets its own file, dist/1.list, 2.sources, ..., so that one that does not respond or has
# no source packages does not affect the others.
rm -rf "$dir/apt"
mkdir -p "$dir/apt/each"
n=0
for f in "$etc"/apt/sources.list "$etc"/apt/sources.list.d/*.list; do
    [ -f "$f" ] || continue
    while read -r kind rest; do
        [ "$kind" = deb ] || continue
        n=$((n + 1))
        # The package is in main (Debian) or universe (Ubuntu).
        universe=
        case "$rest " in
        *" universe "*) universe=" universe" ;;
        esac
        # deb [options] address suite component... -> deb-src [options] address suite main
        echo "deb-src $rest" |
            sed "s/^\(deb-src \(\[[^]]*\] *\)\{0,1\}[^ ]* *[^ ]*\).*/\1 main$universe/" \
                > "$dir/apt/each/$n.list"
    done < "$f"
done
for f in "$etc"/apt/sources.list.d/*.sources; do
    [ -f "$f" ] || continue
    n=$((n + 100))
    awk -v out="$dir/apt/each/$n" '
        BEGIN { RS = ""; FS = "\n" }
        {
            file = out "-" NR ".sources"
            if (tolower($0) ~ /(^|\n)enabled:[ \t]*no/)
                next
            for (i = 1; i <= NF; i++) {
                if ($i ~ /^#/ || tolower($i) ~ /^enabled:/)
                    continue
                if (tolower($i) ~ /^types:/)
                    print "Types: deb-src" > file
                else if (tolower($i) ~ /^components:/)
                    print "Components: main" ($i ~ /[ \t]universe([ \t]|$)/ ? " universe" : "") > file
                else if (tolower($i) ~ /^suites:/ && $i !~ /\/$/) {
                    line = "Suites:"
                    k = split($i, suite, /[ \t]+/)
                    for (j = 2; j <= k; j++)
                        if (suite[j] !~ /-(updates|security|backports)/)
                            line = line " " suite[j]
                    print line > file
                } else
                    print $i > file
            }
            close(file)
        }' "$f"
done

# First the sources of the distribution: those that name its release.
release=$(sed -n 's/^VERSION_CODENAME=//p' "$etc/os-release")
own=$(grep -lEs "(^Suites:| )[^#]*\b${release:-none}( |\$)" "$dir"/apt/each/* || true)
for list in $own $(ls "$dir"/apt/each/* 2> /dev/null || true); do
    [ -f "$list" ] || continue
    grep -q '^Suites:$' "$list" && continue
    echo "fetch-st: requesting the source package st" >&2
    rm -rf "$dir/apt/state" "$dir/apt/cache" "$dir/apt/parts"
    mkdir -p "$dir/apt/state/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/parts"
    mv "$list" "$dir/apt/parts/"
    set -- -qq -o Dir::State="$dir/apt/state" -o Dir::State::lists="$dir/apt/state/lists" \
        -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$dir/apt/cache" \
        -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$dir/apt/parts" \
        -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=2
    apt-get "$@" update >&2 || continue
    rm -f "$tarball"
    (cd "$dir" && apt-get "$@" source --download-only --only-source --tar-only st) >&2 || continue
    if good "$tarball"; then
        cp "$tarball" "$tarball.new" # a mirror in a local folder gives a link
        mv "$tarball.new" "$tarball"
        rm -rf "$dir/apt"
        exit 0
    fi
    rm -f "$tarball"
done
cat >&2 << END
fetch-st: none of this machine's package sources gave $name.
Download it elsewhere (Debian's source package "st") and set its path:
    make ST_TARBALL=/path/to/$name
END
exit 1
