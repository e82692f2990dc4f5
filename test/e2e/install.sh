#!/bin/sh
# Installs the Debian packages that the end-to-end tests need, where they are missing: a compiler and SQLite
# for the database driver of the pinned n8n, and a browser (unless CHROMIUM_PATH names one).
set -eu

missing=
for command in python3 make g++; do
	command -v "$command" >/dev/null 2>&1 || missing="$missing $command"
done
[ -e /usr/include/sqlite3.h ] || missing="$missing libsqlite3-dev"
command -v "${CHROMIUM_PATH:-chromium}" >/dev/null 2>&1 || missing="$missing chromium"
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # one word a package
$as_root apt-get install -y -qq $missing
