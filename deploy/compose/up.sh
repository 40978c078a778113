#!/bin/sh
# Creates the secrets on the first run, builds the image and starts everything in compose.yaml.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
sh "$folder/../make-secrets.sh" "$folder/secrets" postgres:5432
exec docker compose --file "$folder/../compose.yaml" up --build --detach "$@"
