#!/bin/sh
# Links the node to where n8n finds it under its real name, in place of whatever version is there, and then
# becomes another command: link-node.sh <folder npm has installed it in> <command> [arguments]
set -eu

node="$1/node_modules/n8n-nodes-xpertai"
shift
modules="${N8N_USER_FOLDER:-$HOME}/.n8n/nodes/node_modules"

mkdir -p "$modules"
rm -rf "$modules/n8n-nodes-xpertai"
ln -s "$node" "$modules/n8n-nodes-xpertai"
exec "$@"
