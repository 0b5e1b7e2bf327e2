//! Pictures and documents.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::{Attach as _, user};

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let question =
        user("Does the chart agree with the report?").attach_file("chart.png").await?.attach_file("report.pdf").await?;
    println!("{}", ikigai::ask("google:gemini-2.5-flash", question).await?);
    Ok(())
}
