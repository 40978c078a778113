#!/bin/sh
# Copies what a server host needs from an installation (npm ci --omit=dev) in the current folder to an empty folder.
set -eu
target=$1
mkdir "$target"
cp -a --parents package.json LICENSE node_modules server/migrations deploy/make-secrets.sh deploy/image/health.mjs "$target"
for part in server command-tree sdk cli simulator; do
  cp -a --parents "$part/package.json" "$part/src" "$target"
  # Packages whose version differs from the one in the root.
  [ ! -d "$part/node_modules" ] || cp -a --parents "$part/node_modules" "$target"
done
# Links to the parts that are not copied, such as the benchmarks.
find "$target/node_modules" -xtype l -delete
