"""Every pair of colours used together is readable: computed from the stylesheet's own tokens, in both schemes."""

import re
from itertools import product
from pathlib import Path

import pytest

STYLESHEET = Path(__file__).resolve().parents[2] / "consilium" / "static" / "consilium" / "consilium.css"
TEXT = re.sub(r"/\*.*?\*/", "", STYLESHEET.read_text(), flags=re.DOTALL)
RULES = [
    (selector.strip(), {k.strip(): v.strip() for k, v in (d.split(":", 1) for d in body.split(";") if ":" in d)})
    for selector, body in re.findall(r"([^{};]+)\{([^{}]*)\}", TEXT)
]
# The first declaration of a token counts: later ones are for more contrast, small screens and paper.
TOKENS: dict[str, str] = {}
for _selector, _body in RULES:
    if _selector == ":root":
        TOKENS = {**_body, **TOKENS}

SURFACES = ["paper", "sheet", "sunk", "wash", "warn-wash"]
INKS = ["ink", "quiet", "accent", "warn"]
SCHEMES = ["light", "dark"]


def colour(token: str, scheme: str) -> tuple[int, int, int]:
    value = TOKENS[f"--{token}"]
    pair = re.fullmatch(r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", value)
    hexes = pair.groups() if pair else (value, value)
    digits = hexes[SCHEMES.index(scheme)].removeprefix("#")
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


def luminance(rgb: tuple[int, int, int]) -> float:
    """Relative luminance after WCAG 2.2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (channel / 255 for channel in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str, scheme: str) -> float:
    lighter, darker = sorted((luminance(colour(token, scheme)) for token in (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_computed_as_wcag_defines_it() -> None:
    widest = (luminance((255, 255, 255)) + 0.05) / (luminance((0, 0, 0)) + 0.05)
    assert widest == pytest.approx(21)
    grey = (luminance((255, 255, 255)) + 0.05) / (luminance((118, 118, 118)) + 0.05)
    assert grey == pytest.approx(4.54, abs=0.01)  # #767676 on white, the well-known limit


@pytest.mark.parametrize(("ink", "surface", "scheme"), list(product(INKS, SURFACES, SCHEMES)))
def test_every_ink_is_readable_on_every_surface(ink: str, surface: str, scheme: str) -> None:
    assert contrast(ink, surface, scheme) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("ink", "fill"),
    [("on-accent", "accent"), ("on-accent", "accent-deep"), ("on-warn", "warn"), ("on-warn", "warn-deep")],
)
def test_words_on_a_filled_button_are_readable(ink: str, fill: str, scheme: str) -> None:
    assert contrast(ink, fill, scheme) >= 4.5


@pytest.mark.parametrize(("stroke", "surface", "scheme"), list(product(["edge", "accent", "warn"], SURFACES, SCHEMES)))
def test_edges_of_fields_and_the_focus_are_seen_on_every_surface(stroke: str, surface: str, scheme: str) -> None:
    assert contrast(stroke, surface, scheme) >= 3


@pytest.mark.parametrize("ink", INKS)
def test_a_chart_is_readable_on_its_white_plate(ink: str) -> None:
    assert contrast(ink, "plate", "light") >= 4.5


def test_a_rule_that_sets_both_colours_sets_a_readable_pair() -> None:
    """Also a fill under no ink of its own: only strokes and bars have one, and they carry no words."""
    pairs, fills = set(), set()
    for selector, body in RULES:
        ground = re.match(r"var\(--([a-z-]+)\)$", body.get("background", ""))
        ink = re.match(r"var\(--([a-z-]+)\)$", body.get("color", ""))
        if ground and ink:
            pairs.add((ink[1], ground[1], selector))
        elif ground and ground[1] not in [*SURFACES, "plate", "veil", "line"]:
            fills.add(selector)
    assert len(pairs) > 10
    unreadable = [
        (*pair, scheme)
        for pair in pairs
        for scheme in SCHEMES
        if contrast(pair[0], pair[1], scheme) < (3 if pair[2] == "progress" else 4.5)
    ]
    assert unreadable == []
    inked_elsewhere = {":hover", "progress", "::before"}
    assert [selector for selector in fills if not any(word in selector for word in inked_elsewhere)] == []


def test_colours_stand_in_the_tokens_alone() -> None:
    stray = [
        (selector, name, value)
        for selector, body in RULES
        for name, value in body.items()
        if not name.startswith("--") and re.search(r"#[0-9a-fA-F]{3,8}\b|\brgb|\bhsl|\boklch", value)
    ]
    assert stray == []


def test_every_token_that_is_used_is_there() -> None:
    assert set(re.findall(r"var\((--[a-z0-9-]+)", TEXT)) - set(TOKENS) == set()


def test_nothing_fades_its_ink() -> None:
    """Opacity and mixed colours would weaken a contrast that the tokens promise."""
    faded = [
        (selector, body)
        for selector, body in RULES
        if body.get("opacity", "1") != "1" or "color-mix" in " ".join(body.values())
    ]
    assert faded == []


def test_nothing_is_placed_by_left_and_right() -> None:
    """Logical properties only, so that right-to-left pages are right."""
    physical = re.compile(
        r"^(margin|padding|border|inset)?-?(left|right|top|bottom)\b|^(min-|max-)?(width|height)$|"
        r"-(left|right|top|bottom)(-|$)"
    )
    found = [(selector, name) for selector, body in RULES for name in body if physical.search(name)]
    assert found == []
    assert not re.search(r"text-align:\s*(left|right)|float:\s*(left|right)", TEXT)
