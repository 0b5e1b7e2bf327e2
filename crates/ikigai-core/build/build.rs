//! Compiles the data files to tables in the program, so that nothing is parsed at run time.
//!
//! `data/providers.toml` becomes `providers.rs` and `providers.bin`, `data/models/*.toml` becomes `models.rs` and
//! `models.bin`, `data/families.toml` becomes `families.rs`. A broken file fails the build with its name and the row;
//! tests compare the tables with the files.

mod code;
mod families;
#[path = "../src/catalog/hash.rs"]
mod hash;
mod models;
mod packed;
mod providers;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use models::Model;
use toml::Table;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROVIDERS: &str = "data/providers.toml";
const FAMILIES: &str = "data/families.toml";
const MODELS: &str = "data/models";

fn main() -> Result<()> {
    for watched in ["build", PROVIDERS, FAMILIES, MODELS, "src/catalog/hash.rs"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let out = env::var("OUT_DIR")?;
    let write = |name: &str, code: &[u8]| fs::write(Path::new(&out).join(name), code);

    let rows: Table = fs::read_to_string(PROVIDERS)?.parse().map_err(|error| format!("{PROVIDERS}: {error}"))?;
    let table = providers::provider_table(&rows).map_err(|error| format!("{PROVIDERS}: {error}"))?;
    let tables = [("providers", table), ("models", models::model_table(read_models(&rows)?)?)];
    for (name, (code, rows)) in &tables {
        write(&format!("{name}.rs"), code.as_bytes())?;
        write(&format!("{name}.bin"), rows)?;
    }
    write("families.rs", families::family_table(FAMILIES, &fs::read_to_string(FAMILIES)?)?.as_bytes())?;
    Ok(())
}

/// Returns the models of all files, with their providers.
fn read_models(providers: &Table) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    let mut files: Vec<_> = fs::read_dir(MODELS)?.collect::<std::io::Result<_>>()?;
    files.sort_by_key(|file| file.file_name());
    for file in files {
        let path = file.path();
        let rows: Table = fs::read_to_string(&path)?.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        for (provider, rows) in rows {
            if !providers.contains_key(&provider) {
                return Err(format!("{}: unknown provider `{provider}`", path.display()).into());
            }
            for (id, row) in code::table(rows, &provider)? {
                let row = code::table(row, &id)?;
                models.push(Model { file: path.display().to_string(), provider: provider.clone(), id, row });
            }
        }
    }
    Ok(models)
}
