#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch-st.sh DIR [ETC] - get the source tarball of state-threads 1.9 into the folder DIR.
#
# It is that of the source package `st` of Debian and Ubuntu, from the machine's own package sources
# (ETC/apt, /etc/apt) with deb turned to deb-src, in a private state of apt below the folder:
# nothing of the system's is changed. The tarball alone is asked for: there are mirrors that
# no longer have the files beside it.
# ST_TARBALL=/path/to/st_1.9.orig.tar.gz takes that file instead, with no network.
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

# Each source of the machine as one file of its own, dist/1.list, 2.sources, ...: one that does
# not answer, or has no source packages, must not spoil the others.
rm -rf "$dir/apt"
mkdir -p "$dir/apt/each"
n=0
for f in "$etc"/apt/sources.list "$etc"/apt/sources.list.d/*.list; do
    [ -f "$f" ] || continue
    while read -r kind rest; do
        [ "$kind" = deb ] || continue
        n=$((n + 1))
        # Debian has it in main, Ubuntu in universe.
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

# The distribution's own sources first: those that name its release.
release=$(sed -n 's/^VERSION_CODENAME=//p' "$etc/os-release")
own=$(grep -lEs "(^Suites:| )[^#]*\b${release:-none}( |\$)" "$dir"/apt/each/* || true)
for list in $own $(ls "$dir"/apt/each/* 2> /dev/null || true); do
    [ -f "$list" ] || continue
    grep -q '^Suites:$' "$list" && continue
    echo "fetch-st: asking for the source package st" >&2
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
        cp "$tarball" "$tarball.new" # of a mirror in a folder it is a link
        mv "$tarball.new" "$tarball"
        rm -rf "$dir/apt"
        exit 0
    fi
    rm -f "$tarball"
done
cat >&2 << END
fetch-st: none of this machine's package sources gave $name.
Get it elsewhere (Debian's source package "st") and say where it is:
    make ST_TARBALL=/path/to/$name
END
exit 1
