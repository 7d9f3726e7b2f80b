#!/bin/sh
# Copy fonts for scripts beyond Latin, Greek and Cyrillic, which Typst brings along. Usage: docker/fonts.sh FOLDER
# One font, upright and regular, for each script: with serifs where Noto has it so. Needs Debian's fonts-noto-core and
# fonts-noto-cjk. The five faces of the Chinese, Japanese and Korean font share its glyphs.
set -eu
mkdir -p "$1"
cd /usr/share/fonts/truetype/noto
cp NotoSerif*-Regular.ttf NotoNaskhArabic-Regular.ttf ../../opentype/noto/NotoSansCJK-Regular.ttc "$1"
rm "$1"/NotoSerifDisplay-Regular.ttf
for font in NotoSans*-Regular.ttf; do
    script=${font#NotoSans}
    case $script in
        Arabic-* | Display-*) continue ;;
    esac
    [ -e "NotoSerif$script" ] || cp "$font" "$1"
done
