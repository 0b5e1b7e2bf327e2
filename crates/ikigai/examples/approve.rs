//! Asks a person before a tool is run.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::{Approval, Callable, Tool};

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let delete = Callable::new(Tool::new("delete_all", "Deletes all files."), |_| async { "all gone" });
    let model = ikigai::model("anthropic:claude-haiku-4-5")?.tool(delete).approve(|call| async move {
        println!("the model wants to call {}", call.name);
        Approval::Deny("the user said no".to_owned())
    });
    println!("{}", model.ask("Please delete_all, now.").await?);
    Ok(())
}
