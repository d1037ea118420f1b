#!/usr/bin/env bash
# The demo: bundled photos through tiny-vae on 1, 2 and 4 ranks, without and with blending.
# usage: demo.sh INTARSIA [OUT]
set -euo pipefail
intarsia=$1
out=${2:-out/demo}
model=assets/tiny-vae
mkdir -p "$out/latents" "$out/pictures"

echo "Encoding the bundled photos and the 1536x1024 mosaic …" >&2
"$intarsia" vae encode "$model" $model/photos/*.png $model/photos/*.jpg -o "$out/latents" --mode none --quiet >/dev/null

# measure NAME FLAGS…: decodes the mosaic, compares it to the same settings on one rank.
row() {
  local name=$1 base=$2 seam=$3; shift 3
  local file="$out/pictures/mosaic_$name.png" log="$out/mosaic_$name.json"
  "$intarsia" vae decode "$model" "$out/latents/mosaic.safetensors" -o "$file" --json --quiet "$@" >"$log"
  local seconds peak difference figure
  seconds=$(sed -n 's/^  "seconds": \([0-9.]*\).*/\1/p' "$log" | head -1)
  peak=$(sed -n 's/^  "peak_bytes": \([0-9]*\).*/\1/p' "$log" | head -1)
  compare=$("$intarsia" vae compare "$file" "$out/pictures/mosaic_$base.png" --seams --seam-every 96 --json --quiet || true)
  difference=$(sed -n 's/.*"largest": \([0-9.e+-]*\).*/\1/p' <<<"$compare" | head -1)
  figure=$(sed -n 's/.*"ratio": \([0-9.e+-]*\).*/\1/p' <<<"$compare" | head -1)
  printf '%-22s %8.2f %11.0f %26s %12.2f\n' "$name" "$seconds" "$((peak / 1048576))" "$difference" "$figure"
}

printf '%-22s %8s %11s %26s %12s\n' "mosaic 1536x1024" "seconds" "peak MiB" "of 255 off one rank" "seam figure"
row whole whole 0 --ranks 1 --mode none
for ranks in 1 2 4; do row "tiles_${ranks}_ranks" tiles_1_ranks 1 --ranks $ranks --mode tile; done
for ranks in 1 2 4; do row "unblended_${ranks}_ranks" unblended_1_ranks 1 --ranks $ranks --mode tile --tile 96 --overlap 0; done

echo "Decoding the photos on 4 ranks …" >&2
"$intarsia" vae decode "$model" "$out"/latents/{astronaut,chelsea,coffee,rocket}.safetensors \
  -o "$out/pictures" --ranks 4 --mode tile --quiet
"$intarsia" vae plan "$model" --size 1536x1024 --ranks 4 --mode tile -o "$out/plan.png" --quiet >/dev/null
"$intarsia" vae compare --settings "$model" "$out/latents/mosaic.safetensors" --mode none --b-mode tile \
  --seams --tolerance 255 -o "$out/difference.png" --quiet >/dev/null
echo
echo "Pictures: $out/pictures, the plan: $out/plan.png, whole against tiles: $out/difference.png"
echo "The seam figure is the step across tile borders over the steps beside them: 1 is no seam."
