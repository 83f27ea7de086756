#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh OBJS DIR - installs the programs in OBJS, and their files, to DIR.
# install.sh --remove DIR - removes the installed files; keeps files that were changed.
#
# DIR/.installed lists the files with checksums. Installing another version keeps a changed configuration,
# and installs the new one as conf/srs.conf.new.
set -eu
cd "$(dirname "$0")/.."

sum() { # file
    sha256sum < "$1" | cut -d ' ' -f 1
}

remove() { # folder
    [ -f "$1/.installed" ] || { echo "install.sh: $1 was not installed by make install" >&2; exit 1; }
    while read -r sum path; do
        if [ ! -f "$1/$path" ]; then
            continue
        elif [ "$(sum "$1/$path")" = "$sum" ]; then
            rm "$1/$path"
        else
            echo "kept because it was changed: $1/$path"
        fi
    done < "$1/.installed"
    # Deepest folders first; folders with other files stay.
    sed 's/^[0-9a-f]*  //; s,/*[^/]*$,,' "$1/.installed" | sort -ru | while read -r folder; do
        (cd "$1" && [ -z "$folder" ] || rmdir -p "$folder" 2> /dev/null) || true
    done
    rm "$1/.installed"
    rmdir "$1" 2> /dev/null || true
}

keep_changed() { # new folder, folder: keeps configurations that differ from the installed and the new version
    (cd "$1" && ls conf/*.conf) | while read -r path; do
        [ -f "$2/$path" ] || continue
        is=$(sum "$2/$path") now=$(sum "$1/$path") was=
        [ ! -f "$2/.installed" ] || was=$(awk -v "path=$path" '$2 == path { print $1 }' "$2/.installed")
        if [ "$is" = "$was" ] || [ "$is" = "$now" ]; then
            continue
        elif [ "$was" = "$now" ]; then
            rm "$1/$path"
            echo "kept because it was changed: $2/$path"
        else
            mv "$1/$path" "$1/$path.new"
            echo "$now  $path.new" >> "$1/.installed"
            echo "kept because it was changed: $2/$path; this version's is $2/$path.new"
        fi
    done
}

if [ "$1" = --remove ]; then
    remove "$2"
    exit
fi
objs=$1 dir=$2
. packaging/files.sh
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM

install -d "$new/objs" "$new/conf" "$new/doc" "$new/scripts"
install -m 755 "$objs/srs" "$new/objs/"
for tool in $tools; do
    install -m 755 "$objs/$tool" "$new/objs/"
done
cp -r "$objs/console" "$new/objs/"
[ ! -d "$objs/player" ] || cp -r "$objs/player" "$new/objs/"
install -m 644 conf/*.conf "$new/conf/" # no keys
# shellcheck disable=SC2086
install -m 644 $top_pages "$new/"
# shellcheck disable=SC2086
install -m 644 $pages doc/source.flv "$new/doc/"
cp -r etc "$new/"
put_rtmfp "$new/scripts"

(cd "$new" && find . -type f | sed 's,^\./,,' | sort | xargs -d '\n' sha256sum) > "$new.list"
mv "$new.list" "$new/.installed"
keep_changed "$new" "$dir"
if [ -f "$dir/.installed" ]; then # files of an older version that this one does not have
    awk 'FNR == NR { has[$2] = 1; next } !has[$2]' "$new/.installed" "$dir/.installed" > "$new/older"
    cat "$new/older" >> "$new/.installed"
    rm "$new/older"
fi
install -d "$dir"
cp -rf "$new/." "$dir/" # -f also replaces programs that run
