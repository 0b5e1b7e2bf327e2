//! Tools without the loop: calls are returned, and the program supplies the results.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::{Block, FinishReason, Message, Prompt, Role, Tool, user};

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let model = ikigai::model("openai:gpt-5.4")?.tool(Tool::new("clock", "Tells the time."));
    let mut context = Prompt::from(user("Look at the clock."));
    let answer = loop {
        let answer = model.ask(context.clone()).await?;
        if answer.finish_reason() != FinishReason::ToolUse {
            break answer;
        }
        let results: Vec<Block> = answer.tool_calls().map(|call| Block::tool_result(&call.id, "12:00")).collect();
        context.extend(answer.messages().iter().cloned());
        context.extend([Message::new(Role::Tool, results)]);
    };
    println!("{answer}");
    Ok(())
}
