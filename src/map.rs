//! `keel map`: a picture of any map.

mod picture;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use keel_balance::Balance;
use keel_map::{Hex, Layout, MapKey, Plan, Terrain, generate};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which map: layer-1 to layer-6, rift-1 to rift-6
    #[arg(long = "map", value_name = "MAP")]
    key: MapKey,
    /// The seed that the map follows from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The balance file
    #[arg(long, default_value = "balance.ron", value_name = "FILE")]
    balance: PathBuf,
    /// Where to put the picture: a name that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the map as text
    #[arg(long)]
    text: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let balance = Balance::load(&args.balance)?;
    let layout = generate(&Plan::of(&balance, args.key), args.seed, &[]);
    if let Some(out) = &args.out {
        let bytes = match extension(out).as_str() {
            "svg" => picture::svg(args.key, &layout).into_bytes(),
            "png" => picture::png(args.key, &layout)?,
            _ => bail!("{} is no picture's name: it ends in .svg or .png", out.display()),
        };
        std::fs::write(out, bytes).with_context(|| format!("cannot write {}", out.display()))?;
    }
    if args.text || args.out.is_none() {
        print!("{}", text(&layout));
    }
    let count = |is_one: fn(Terrain) -> bool| layout.sectors().filter(|(_, terrain)| is_one(*terrain)).count();
    println!(
        "{} of seed {}: {}, {} sectors, {} with belts, {} with clouds, {} hazards.",
        args.key,
        args.seed,
        layout.shape().map_or("open".to_owned(), |shape| shape.to_string()),
        layout.hexes().len(),
        count(|terrain| matches!(terrain, Terrain::Belt { .. })),
        count(|terrain| matches!(terrain, Terrain::Cloud { .. })),
        layout.hazards().len(),
    );
    Ok(())
}

fn extension(path: &Path) -> String {
    path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// A map in letters: `@` the centre, `.` open, `b` a belt, `c` a cloud, `#` a hazard.
fn text(layout: &Layout) -> String {
    let places = || layout.hexes().iter().chain(layout.hazards());
    let rows = || places().map(|hex| hex.row);
    let cols = || places().map(|hex| hex.col);
    let (Some(top), Some(bottom), Some(left), Some(right)) = (rows().min(), rows().max(), cols().min(), cols().max())
    else {
        return String::new();
    };
    let mut text = String::new();
    for row in top..=bottom {
        let letters: String = (left..=right).flat_map(|col| [letter(layout, Hex::new(col, row)), ' ']).collect();
        let indent = if row & 1 == 1 { " " } else { "" };
        text.push_str(format!("{indent}{letters}").trim_end());
        text.push('\n');
    }
    text
}

fn letter(layout: &Layout, hex: Hex) -> char {
    match layout.terrain(hex) {
        _ if hex == Hex::CENTRE => '@',
        Some(Terrain::Open) => '.',
        Some(Terrain::Belt { .. }) => 'b',
        Some(Terrain::Cloud { .. }) => 'c',
        None if layout
            .hazards()
            .binary_search_by_key(&(hex.row, hex.col), |hazard| (hazard.row, hazard.col))
            .is_ok() =>
        {
            '#'
        }
        None => ' ',
    }
}
