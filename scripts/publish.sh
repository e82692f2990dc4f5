#!/bin/sh
# Publishes a packed tarball to the registry that npm is set to: sh scripts/publish.sh <tarball>
# With NODE_AUTH_TOKEN npm logs in with that token, which no file ever holds; without, npm asks the registry
# to trust the workflow it runs in. A version such as 1.0.0-beta.1 is not what people get unasked.
set -eu

tarball=$1
if ! tar -tzf "$tarball" | grep -q '^package/dist/nodes/.*\.node\.js$'; then
	echo "$tarball holds no built node: run npm run build, then npm pack" >&2
	exit 1
fi
version=$(tar -xzOf "$tarball" package/package.json | node -p 'JSON.parse(fs.readFileSync(0, "utf8")).version')

if [ -n "${NODE_AUTH_TOKEN:-}" ]; then
	registry=$(npm config get registry)
	npm config set --location=user "${registry#*:}:_authToken=\${NODE_AUTH_TOKEN}"
fi

tag=latest
case $version in *-*) tag=next ;; esac

npm publish "$(realpath "$tarball")" --access public --tag "$tag"
