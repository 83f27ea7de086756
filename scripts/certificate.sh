#!/bin/sh
# SPDX-License-Identifier: MIT
# certificate.sh [FOLDER] - creates self-signed server.crt and server.key for conf/https.*.conf, unless they exist.
set -eu
folder=${1:-conf}
crt=$folder/server.crt key=$folder/server.key

[ ! -e "$crt" ] && [ ! -L "$crt" ] && [ ! -e "$key" ] && [ ! -L "$key" ] || exit 0
if [ ! -w "$folder" ] || ! command -v openssl > /dev/null; then
    echo "no certificate for conf/https.*.conf: $folder is read-only or openssl is missing; create $crt and $key yourself"
    exit 0
fi
umask 077
new=$(mktemp -d "$folder/.certificate.XXXXXX")
trap 'rm -rf "$new"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1 -keyout "$new/key" -out "$new/crt" 2> "$new/log" ||
    { cat "$new/log" >&2; exit 1; }
chmod 644 "$new/crt"
mv "$new/key" "$key"
mv "$new/crt" "$crt"
echo "created a self-signed certificate for tests of https, valid for 10 years: $crt, $key (replace it with your own)"
