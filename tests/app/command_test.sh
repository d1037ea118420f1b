#!/usr/bin/env bash
# What a user of the command sees: exit codes, messages, and files that are whole or not there.
# usage: command_test.sh INTARSIA CASE [MPIRUN…]
set -uo pipefail
intarsia=$1
case=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
model=$root/assets/tiny-vae
latent=$model/latents/coffee.safetensors
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# expect CODE TEXT COMMAND…: exit code and a part of the output.
expect() {
  local code=$1 text=$2 output got
  shift 2
  output=$("$@" 2>&1)
  got=$?
  if [ "$got" != "$code" ] || [[ "$output" != *"$text"* ]]; then
    printf 'FAILED: %s\n  exit %s, expected %s with "%s"; it said:\n%s\n' "$*" "$got" "$code" "$text" "$output"
    failed=1
  fi
}

# Nothing but `allowed` is in the folder: no result, no temporary file.
expect_only() {
  local left
  left=$(find . -type f | sort | tr '\n' ' ')
  [ "$left" = "${1:+$1 }" ] || { echo "FAILED: files left behind: $left"; failed=1; }
}

run_verify() {  # every reference case, on threads and on MPI
  local folder ranks
  for folder in "$root"/tests/data/vae/kl_*; do
    for ranks in 1 3 8; do expect 0 "0 failed" "$intarsia" verify "$folder" --ranks $ranks; done
    [ $# = 0 ] || expect 0 "0 failed" "$@" -np 2 "$intarsia" verify "$folder"
  done
  expect 1 "no case ran" "$intarsia" verify "$root/tests/data/vae/kl_sd" --filter nothing-of-this-name
}

run_same_bits() {  # threads and MPI write one file
  local ranks
  "$intarsia" vae decode "$model" "$latent" -o one.safetensors --mode tile -q >one.txt || failed=1
  for ranks in 2 3 8; do
    "$intarsia" vae decode "$model" "$latent" -o threads.safetensors --mode tile --ranks $ranks -q >threads.txt
    cmp one.safetensors threads.safetensors || failed=1
  done
  [ $# = 0 ] && return
  "$@" -np 3 "$intarsia" vae decode "$model" "$latent" -o mpi.safetensors --mode tile -q >mpi.txt
  cmp one.safetensors mpi.safetensors || failed=1
}

run_refuses() {
  decode() { expect 2 "$1" "$intarsia" vae decode "$model" "$latent" -o out.png "${@:2}"; }
  decode "works: " --mode tile --tile 100
  decode "works: " --mode tile --overlap 0.3
  decode "below 1" --mode tile --overlap 1
  decode "less than one latent unit" --mode tile --tile 4
  decode "mode cannot be" --mode tiles
  decode "mode patch is for pictures no larger" --mode patch
  decode "no tile is small enough" --memory 50MiB
  decode "not a size in bytes" --memory lots
  decode "is not known" --dtype int4
  decode "is not known" --device tpu
  decode "use model, scaled or packed" --latents raw
  decode "not in range" --ranks 0
  decode "has no tensor" --tensor latent
  decode "--timeout" --timeout 0
  expect 2 "the extension must be" "$intarsia" vae decode "$model" "$latent" -o out.webp
  expect 2 "does not exist" "$intarsia" vae decode "$model" "$latent" -o nowhere/out.png
  expect 2 "no checkpoint" "$intarsia" vae decode nothing "$latent" -o out.png
  expect 2 "text file" "$intarsia" vae decode "$model/README.md" "$latent" -o out.png
  expect 2 "PNG" "$intarsia" vae decode "$model" "$model/photos/coffee.png" -o out.png
  expect 2 "text file" "$intarsia" vae encode "$model" "$model/README.md" -o out.safetensors
  expect 2 "nearest that work" "$intarsia" vae plan "$model" --size 601x400
  expect 2 "cases.json" "$intarsia" verify "$model"
  expect 2 "GiB or more" "$intarsia" vae plan "$model" --size 100000x100000
  expect 2 "tiles are more than" "$intarsia" vae plan "$model" --size 1000000x1000000 --mode tile --memory 9999TiB
  sed 's/"silu"/"gelu"/' "$model/config.json" >config.json
  expect 2 "act_fn" "$intarsia" vae plan config.json --size 512x512
  rm config.json
  expect 2 "" "$intarsia" vae decode
  expect 2 "" "$intarsia" nonsense
  expect_only ""
}

run_broken() {  # a model and a latent cut at places all over their length; NaN; a bomb
  local percent size weights=$model/diffusion_pytorch_model.safetensors
  cp "$model/config.json" .
  size=$(stat -c %s "$weights")
  for percent in 0 1 7 23 50 77 99; do
    head -c $((size * percent / 100)) "$weights" >diffusion_pytorch_model.safetensors
    expect 2 "intarsia: " "$intarsia" vae decode . "$latent" -o out.png
  done
  cp "$weights" diffusion_pytorch_model.safetensors
  size=$(stat -c %s "$latent")
  for percent in 0 2 50 99; do
    head -c $((size * percent / 100)) "$latent" >cut.safetensors
    expect 2 "cut.safetensors" "$intarsia" vae decode . cut.safetensors -o out.png
  done
  printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\352\140\0\0\352\140\10\2\0\0\0\206\276\103\273' >bomb.png
  expect 2 "bomb.png" "$intarsia" vae encode . bomb.png -o out.safetensors
  [ ! -e out.png ] && [ ! -e out.safetensors ] || { echo "FAILED: a result of a broken file"; failed=1; }
}

run_overwrites() {  # what is read is never replaced
  cp -r "$model" tm && chmod -R u+w tm && cp "$latent" l.safetensors && mkdir ph && cp "$model"/photos/{chelsea,coffee}.png ph
  local before
  before=$(cat tm/*.safetensors l.safetensors ph/*.png | md5sum)
  expect 2 "would replace" "$intarsia" vae decode tm l.safetensors -o l.safetensors
  expect 2 "would replace" "$intarsia" vae encode tm ph/coffee.png -o tm/diffusion_pytorch_model.safetensors
  expect 2 "would replace" "$intarsia" vae roundtrip tm ph/chelsea.png ph/coffee.png -o ph
  expect 2 "would replace" "$intarsia" vae roundtrip tm ph/coffee.png -o ./ph/../ph/coffee.png
  expect 2 "would replace" "$intarsia" vae compare ph/coffee.png ph/coffee.png -o ph/coffee.png
  expect 2 "cannot write" "$intarsia" vae decode tm l.safetensors -o /proc/x.png
  expect 2 "no such file" "$intarsia" vae decode tm l.safetensors nothing.npy -o f
  [ "$before" = "$(cat tm/*.safetensors l.safetensors ph/*.png | md5sum)" ] || { echo "FAILED: an input changed"; failed=1; }
}

run_compares() {
  local photo=$model/expected/chelsea_untiled.png tiled=$model/expected/chelsea_tiled128_ov0.25.png
  expect 0 "equal within" "$intarsia" vae compare "$photo" "$photo"
  expect 1 "unequal within" "$intarsia" vae compare "$photo" "$tiled" -o heat.png
  expect 0 "equal within" "$intarsia" vae compare "$photo" "$tiled" --tolerance 60 --seams --seam-every 96
  expect 2 "a tensor" "$intarsia" vae compare "$photo" "$latent"
  expect 2 "looks at pictures" "$intarsia" vae compare "$latent" "$model/latents/chelsea.safetensors" --seams
  expect_only "./heat.png"
}

run_killed() {  # one process of MPI dies in the middle: all end soon, no file is left
  [ $# = 0 ] && exit 77
  local before=$SECONDS pid victim
  "$@" -np 3 "$intarsia" vae decode "$model" "$model/latents/mosaic.safetensors" -o out.png --mode tile \
    --timeout 20 >log.txt 2>&1 &
  pid=$!
  for _ in $(seq 200); do
    victim=$(pgrep -P "$pid" -f "$intarsia" | tail -1)
    [ -n "$victim" ] && [ "$(awk '{print $14}' "/proc/$victim/stat" 2>/dev/null || echo 0)" -gt 100 ] && break
    sleep 0.05
  done
  kill -9 "$victim" || { echo "FAILED: nobody to kill"; failed=1; }
  if wait "$pid"; then echo "FAILED: exit 0 after a kill"; failed=1; fi
  [ $((SECONDS - before)) -lt 30 ] || { echo "FAILED: took too long to end"; failed=1; }
  grep -q -i -E "killed|signal|rank" log.txt || { echo "FAILED: no word of it:"; cat log.txt; failed=1; }
  expect_only "./log.txt"
}

"run_$case" "$@"
exit $failed
