//! The simulator for all clients.

use std::io::{Read as _, Write as _};

use ikigai_sim::{Config, Script, Sim};

use crate::Failure;

/// The text that the simulator sends in one delta: twelve characters.
const PIECE: &str = "some words, ";
/// Every tenth one: JSON has to escape it.
const LINE: &str = "some words.\\n";

/// Serves answers of this many deltas until the input ends. `whole`: in one piece, as they arrive if the client is
/// slower than the network; otherwise each event is a separate piece, as they arrive from a model.
pub(crate) async fn serve(deltas: usize, whole: bool) -> Result<(), Failure> {
    let text: String = (1..=deltas).map(|delta| if delta % 10 == 0 { LINE } else { PIECE }).collect();
    let mut config = Config::default();
    config.canned = whole;
    config.script = Script::from_toml(&format!("[[reply]]\ntimes = 0\ntext = \"{}\"\n", text), "the bench's script")?;
    let sim = Sim::with(config).await?;
    println!("{}", sim.url());
    std::io::stdout().flush()?;
    // The thread that waits for the end of the input does not hold up answers.
    let (over, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = over.send(());
    });
    ended.await?;
    Ok(())
}
