#!/bin/sh
# Creates the secrets of a new deployment in FOLDER/files, one file each, and FOLDER/owner.sql, which creates the owner and the
# database. Does not replace a file that exists. Production replaces the secrets of the rails with those that the rails issue.
#
#   sh make-secrets.sh FOLDER DATABASE_HOST[:PORT] [URL_PARAMETERS]
#
# For example: sh make-secrets.sh secrets db.example.com:5432 '?sslmode=verify-full'
set -eu
if [ $# -lt 2 ]; then
  echo 'usage: sh make-secrets.sh FOLDER DATABASE_HOST[:PORT] [URL_PARAMETERS]' >&2
  exit 2
fi
folder=$1
host=$2
parameters=${3:-}

# Other users of this machine cannot enter the folder. What is below it is readable, because a container that mounts it runs
# as another user.
mkdir -p "$folder/files"
chmod 700 "$folder"
chmod 755 "$folder/files"

write() {
  [ -e "$folder/$1" ] || (umask 022 && cat >"$folder/$1")
}
random() {
  head -c 32 /dev/urandom | base64
}
# Without characters that a URL or an SQL string would have to escape.
password() {
  head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

for name in master_key key_pepper token_key receipt_key breb_client_secret breb_notice_secret pse_secret pse_notice_secret; do
  random | write "files/$name"
done
for role in read batch system backup; do
  echo "postgres://caudal_$role:$(password)@$host/caudal$parameters" | write "files/database_${role}_url"
done
password=$(password)
echo "postgres://caudal_owner:$password@$host/caudal$parameters" | write files/database_url
password=$(sed 's|^postgres://caudal_owner:\([^@]*\)@.*|\1|' "$folder/files/database_url")
write owner.sql <<SQL
create role caudal_owner login createrole createdb password '$password';
create database caudal owner caudal_owner;
SQL
# The administrator of the PostgreSQL that compose.yaml starts.
password | write postgres_password
