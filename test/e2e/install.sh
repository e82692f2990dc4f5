#!/bin/sh
# Installs the Debian packages that the end-to-end tests need, where they are missing.
set -eu

missing=
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
[ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # one word a package
$as_root apt-get install -y -qq $missing
