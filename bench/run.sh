#!/usr/bin/env bash
# The benchmarks: ratios within one run, as Markdown on stdout and in out/bench.
# usage: run.sh BUILD [quick]
set -euo pipefail
build=$1
out=out/bench
mkdir -p "$out"

memory() {
  echo "### Memory: is the budget kept? (SD's widths, random weights, float32)"
  echo
  echo "| picture | asked | ranks | budget MiB | ran as | tasks | predicted MiB | measured MiB | kept | s |"
  echo "|---|---|---|---|---|---|---|---|---|---|"
  local size runs=("32 32 none 8000 1" "64 64 none 8000 1" "64 64 auto 900 1" "64 64 auto 900 4" "96 64 tile 1400 2")
  [ "${1:-}" = quick ] || runs+=("128 128 none 12000 1" "128 128 auto 1024 1" "128 128 auto 2048 4" "128 192 tile 2000 2")
  for size in "${runs[@]}"; do
    # shellcheck disable=SC2086
    "$build/bench/vae_memory" $size
  done
  echo
}

ranks() {
  echo "### Ranks: the 1536x1024 mosaic of tiny-vae in tiles"
  echo
  "$build/bench/vae_ranks" assets/tiny-vae assets/tiny-vae/latents/mosaic.safetensors "$([ "${1:-}" = quick ] && echo 3 || echo 7)"
  echo
}

groups() {
  echo "### Groups: collectives between ranks"
  echo
  "$build/bench/group_bench"
  echo
}

{ ranks "${2:-}"; memory "${2:-}"; groups; } | tee "$out/bench.md"
