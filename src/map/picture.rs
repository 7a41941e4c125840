//! A map as SVG, and that drawn as PNG: both are the same picture.

use std::fmt::Write;

use anyhow::Context;
use keel_map::{Hex, Layout, MapKey, MapKind, Terrain};
use resvg::{tiny_skia, usvg};

/// From a sector's middle to its corners, in units of the picture.
const RADIUS: f32 = 12.0;

/// Half of the width of a sector: √3 / 2 of its radius.
const HALF_WIDTH: f32 = RADIUS * 0.866_025_4;

/// Around the map.
const MARGIN: f32 = 16.0;

const BACKGROUND: &str = "#0a0c14";
const BELT: &str = "#e0b060";
const CLOUD: &str = "#b8f0e0";
const HAZARD: &str = "#3a1618";
const CENTRE: &str = "#ffffff";

/// The two colours of each map: what a sector is filled with, and its rim. A Rift is its layer's, grown hot.
const fn palette(key: MapKey) -> (&'static str, &'static str) {
    match (key.kind, key.tier) {
        (MapKind::Layer, 1) => ("#12304a", "#3f7fb5"),
        (MapKind::Layer, 2) => ("#123c44", "#3fa3b0"),
        (MapKind::Layer, 3) => ("#143e34", "#41ad8b"),
        (MapKind::Layer, 4) => ("#26401f", "#74b04f"),
        (MapKind::Layer, 5) => ("#43401a", "#b5a83f"),
        (MapKind::Layer, _) => ("#472d18", "#bd7b3c"),
        (MapKind::Rift, 1) => ("#2b2350", "#7a68d6"),
        (MapKind::Rift, 2) => ("#392053", "#9a5fdc"),
        (MapKind::Rift, 3) => ("#481d50", "#bd58d2"),
        (MapKind::Rift, 4) => ("#541b42", "#d8529f"),
        (MapKind::Rift, 5) => ("#5a1b30", "#e2526f"),
        (MapKind::Rift, _) => ("#5c2018", "#ea5a3d"),
    }
}

/// The map as SVG.
pub(super) fn svg(key: MapKey, layout: &Layout) -> String {
    let middles = || layout.hexes().iter().chain(layout.hazards()).map(|&hex| middle(hex));
    let least = |of: fn((f32, f32)) -> f32| middles().map(of).fold(f32::MAX, f32::min);
    let most = |of: fn((f32, f32)) -> f32| middles().map(of).fold(f32::MIN, f32::max);
    let (left, top) = (least(|(x, _)| x) - RADIUS - MARGIN, least(|(_, y)| y) - RADIUS - MARGIN);
    let (width, height) = (most(|(x, _)| x) + RADIUS + MARGIN - left, most(|(_, y)| y) + RADIUS + MARGIN - top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"{left:.1} {top:.1} {width:.1} {height:.1}\">\n<title>{key}</title>\n\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"100%\" height=\"100%\" fill=\"{BACKGROUND}\"/>\n"
    );
    let (fill, rim) = palette(key);
    for &hazard in layout.hazards() {
        hexagon(&mut svg, hazard, HAZARD, BACKGROUND);
    }
    for (hex, terrain) in layout.sectors() {
        hexagon(&mut svg, hex, fill, rim);
        match terrain {
            Terrain::Open => {}
            // The richer, the larger: the area goes with the richness.
            Terrain::Belt { richness } => circle(&mut svg, hex, f32::from(richness).sqrt() * 1.6, BELT, 1.0),
            Terrain::Cloud { richness } => circle(&mut svg, hex, f32::from(richness).sqrt() * 2.2, CLOUD, 0.45),
        }
    }
    if layout.contains(Hex::CENTRE) {
        circle(&mut svg, Hex::CENTRE, RADIUS * 0.45, CENTRE, 1.0);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The map as PNG.
pub(super) fn png(key: MapKey, layout: &Layout) -> anyhow::Result<Vec<u8>> {
    let tree = usvg::Tree::from_str(&svg(key, layout), &usvg::Options::default()).context("cannot draw the map")?;
    let size = tree.size().to_int_size();
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).context("the map is too large to draw")?;
    resvg::render(&tree, tiny_skia::Transform::default(), &mut pixels.as_mut());
    pixels.encode_png().context("cannot draw the map")
}

/// Where a sector's middle is. Odd rows stand half a sector to the right.
fn middle(hex: Hex) -> (f32, f32) {
    let right = (2 * hex.col + (hex.row & 1)) as f32;
    (right * HALF_WIDTH, hex.row as f32 * RADIUS * 1.5)
}

fn hexagon(svg: &mut String, hex: Hex, fill: &str, rim: &str) {
    let (x, y) = middle(hex);
    let corners = [(0.0, -1.0), (1.0, -0.5), (1.0, 0.5), (0.0, 1.0), (-1.0, 0.5), (-1.0, -0.5)];
    let points = corners.map(|(dx, dy)| format!("{:.2},{:.2}", x + dx * HALF_WIDTH, y + dy * RADIUS)).join(" ");
    // Writing to a string does not fail.
    let _ = writeln!(svg, "<polygon points=\"{points}\" fill=\"{fill}\" stroke=\"{rim}\" stroke-width=\"1\"/>");
}

fn circle(svg: &mut String, hex: Hex, radius: f32, fill: &str, opacity: f32) {
    let (x, y) = middle(hex);
    let radius = radius.min(RADIUS * 0.8);
    let _ =
        writeln!(svg, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{fill}\" opacity=\"{opacity}\"/>");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use keel_balance::Balance;
    use keel_map::{Plan, generate};

    use super::*;

    #[test]
    fn every_map_has_a_palette_of_its_own_and_draws_to_both_formats() {
        let balance = Balance::parse("balance.ron", include_str!("../../balance.ron")).unwrap();
        assert_eq!(MapKey::all().map(palette).collect::<BTreeSet<_>>().len(), 12);
        for key in MapKey::all() {
            let layout = generate(&Plan::of(&balance, key), 7, &[]);
            let drawn = svg(key, &layout);
            assert_eq!(drawn.matches("<polygon").count(), layout.hexes().len() + layout.hazards().len());
            let bytes = png(key, &layout).unwrap();
            assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{key}: {} bytes", bytes.len());
        }
    }
}
