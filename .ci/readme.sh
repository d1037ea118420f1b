#!/usr/bin/env bash
# Runs the README's ```sh blocks that begin with "intarsia", line by line, from the project's root.
# usage: readme.sh FOLDER_OF_THE_COMMAND
set -euo pipefail
PATH=$(cd "$1" && pwd):$PATH
cd "$(dirname "$0")/.."
mkdir -p out
ran=0
while IFS= read -r line; do
  printf '$ %s\n' "$line"
  bash -c "$line" </dev/null  # mpirun would read the other lines
  ran=$((ran + 1))
done < <(awk '/^```sh$/{inside=1; next} /^```/{inside=0} inside && /^(intarsia|mpirun) /' README.md)
[ "$ran" -gt 0 ] || { echo "README.md has no example"; exit 1; }
echo "$ran examples ran"
