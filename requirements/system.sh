#!/bin/sh
# Install the Debian packages of the libraries that are missing, where that is permitted: LIBRARY:PACKAGE ...
# A machine without apt, or a user who may not install, is told what is missing and goes on.
missing=""
for pair in "$@"; do
    library=${pair%%:*}
    found=""
    for folder in /usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/local/lib; do
        [ -e "$folder/$library" ] && found=yes
    done
    [ -n "$found" ] || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing$missing"
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing; } >/dev/null 2>&1 && exit 0
fi
echo "not installed:$missing (pictures are drawn without OpenGL, Blender may not start, tests in a browser are skipped)" >&2
