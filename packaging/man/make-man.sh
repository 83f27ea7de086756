#!/bin/sh
# SPDX-License-Identifier: MIT
# make-man.sh OBJS VERSION DATE OUT - writes the manual pages to OUT/man1, man5 and man8.
#
# Options come from the output of -h, directives from conf/full.conf, which is generated from the server's
# tables. The pages are therefore always up to date.
set -eu

objs=$1 version=$2 date=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/man1" "$out/man5" "$out/man8"

# Escapes text for roff: minus signs, backslashes, and requests at the start of a line.
escape() {
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
}

# "    -c FILE     Description" -> a tagged item.
options() {
    sed -n 's/^  *\(-[^ ]*\(,\{0,1\} [^ ][^ ]*\)*\)   *\(.*\)/\1\
\3/p' | escape | sed '1~2s/^\(.*\)$/.TP\
.B "\1"/'
}

"$objs/srs" -h | options > "$out/options"
sed -e "s/@VERSION@/$version/; s/@DATE@/$date/" -e "/^@OPTIONS@/{r $out/options
d
}" "$here/srs.8" > "$out/man8/srs.8"
rm "$out/options"

. "$here/../files.sh"
for name in $tools; do
    tool=$objs/$name
    {
        echo ".TH $(echo "$name" | tr a-z A-Z) 1 \"$date\" \"srs $version\" \"User Commands\""
        echo ".SH NAME"
        "$tool" --help | sed -n "1s/.*\($name - .*\)/\1/p" | sed 's/ - / \\- /'
        echo ".SH SYNOPSIS"
        "$tool" --help | sed -n "s/^Usage: .*\($name.*\)/\1/p" | escape
        echo ".SH DESCRIPTION"
        echo "Loads a media server with many clients and reports the results. It ends after"
        echo ".BR \\-\\-duration ,"
        echo "when all sessions have ended, or on Ctrl+C, with a summary. Test your own servers only."
        echo ".SH OPTIONS"
        "$tool" --help | options
        echo ".SH SEE ALSO"
        echo ".BR srs (8)"
    } > "$out/man1/$name.1"
done

{
    echo ".TH SRS.CONF 5 \"$date\" \"srs $version\" \"File Formats Manual\""
    echo ".SH NAME"
    echo "srs.conf \\- configuration of the media server srs"
    echo ".SH DESCRIPTION"
    echo "A directive is a name, values and a semicolon, or a name and a block in braces; # starts a comment."
    echo "Directives in a"
    echo ".B vhost"
    echo "apply to its streams, those in"
    echo ".B vhost __defaultVhost__"
    echo "to all other streams. Environment variables override the file."
    echo ".PP"
    echo ".B srs \\-t \\-c"
    echo ".I FILE"
    echo "checks a file. Errors contain the line and the most similar known name."
    echo ".SH DIRECTIVES"
    echo ".nf"
    escape < "$here/../../conf/full.conf"
    echo ".fi"
    echo ".SH SEE ALSO"
    echo ".BR srs (8)"
} > "$out/man5/srs.conf.5"
