"""Makes the page's fonts: the characters that it needs of the fonts of the window.

python3 -m pip install fonttools==4.68.0
python3 subset.py FOLDER    (epaint_default_fonts' fonts, and Ubuntu-Medium.ttf)

The light face is for the page and for saved figures, the semibold one also for the window.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# Western letters and the field's signs; what others write is drawn with the browser's fonts.
LETTERS = "0020-007E 00A0-00FF 0391-03A9 03B1-03C9 2010-2014 2016-201E 2020-2026 202F-2030 2039-203A \
2070-2079 207B 2080-2089 20AC 2190-2199 2202 2206 220F 2211-2212 221A 221E 2248 2260 2264-2265 226A-226B \
2308-230B"
# Of the second font only the signs that the first one lacks: nothing in the page is monospaced.
SIGNS = "0020 2190-2193 25A0-25A1 25B2-25C7 25CB 25CF 2713 2717"
# Titles and numbers: ASCII, and the signs that names and units contain.
TITLES = "0020-007E 00A0 00B0-00B3 00B5 00B7 00D7 00E4 00F6 00FC 03A3 03B9-03BB 03C3 03C4 2013-2014 2019 201C-201D 2026 \
2212 221E 2248 2264-2265"
# The Ubuntu Font Licence asks for this form of a changed font's name.
FONTS = {
    "Ubuntu-Light": ("Ubuntu Light derivative Sparsescope", LETTERS),
    "Hack-Regular": ("Hack subset Sparsescope", SIGNS),
    "Ubuntu-Medium": ("Ubuntu Medium derivative Sparsescope", TITLES),
}
FIGURES = Path("../../app/figures/fonts")
PLACES = {"Ubuntu-Light": FIGURES, "Ubuntu-Medium": FIGURES}


def characters(ranges):
    for part in ranges.split():
        first, _, last = part.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


for file, (name, ranges) in FONTS.items():
    font = TTFont(Path(sys.argv[1]) / f"{file}.ttf", recalcTimestamp=False)
    # Without kerning a face is half as large, and its texts are as wide as their letters.
    options = subset.Options(hinting=False, layout_features=[])
    options.name_IDs = [0, 1, 2, 4, 6, 13, 14]
    options.drop_tables += ["TTFA"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters(ranges))
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4):
            record.string = name
        if record.nameID == 6:
            record.string = name.replace(" ", "-")
    font.save(PLACES.get(file, Path()) / f"{name.replace(' ', '-')}.ttf")
