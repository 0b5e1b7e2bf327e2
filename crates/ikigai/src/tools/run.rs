//! Running the calls of one answer.

use std::sync::Arc;
use std::time::Duration;

use ikigai_core::{Block, ToolCall, ToolResult};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::{Approval, Approve, Callable, Output, Timeout};
use crate::hook::Hooks;
use crate::time::Clock;

/// What is needed to run a call.
#[derive(Clone)]
pub(crate) struct ToolRunner {
    pub(crate) tools: Vec<Callable>,
    pub(crate) approve: Option<Arc<Approve>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) hooks: Hooks,
    pub(crate) content_in_traces: bool,
}

/// Runs calls concurrently and returns their results in the order of the calls. Every call gets a result: one that
/// cannot be run, fails, panics, takes too long or is not allowed gets one that says so.
///
/// Dropping the future stops the running calls.
pub(crate) async fn run(runner: ToolRunner, calls: Vec<ToolCall>) -> Vec<Block> {
    let mut results: Vec<Option<Output>> = Vec::new();
    let mut running = JoinSet::new();
    for (place, call) in calls.iter().enumerate() {
        runner.hooks.on_tool_call(call);
        // One after the other, because a person may be asked here.
        results.push(match checked(&runner, call).await {
            Err(refused) => Some(refused),
            Ok(tool) => {
                // Created here, inside the caller's own span.
                let span = crate::trace::tool(call, runner.content_in_traces);
                let work = timed(tool.clone(), call.clone(), runner.timeout, Arc::clone(&runner.clock))
                    .instrument(span.clone());
                let with_content = runner.content_in_traces;
                running.spawn(async move {
                    let output = work.await;
                    crate::trace::tool_done(&span, &output, with_content);
                    (place, output)
                });
                None
            }
        });
    }
    while let Some(joined) = running.join_next_with_id().await {
        // A panic does not say which call it was; a call without a result at the end has panicked.
        if let Ok((_, (place, output))) = joined
            && let Some(result) = results.get_mut(place)
        {
            *result = Some(output);
        }
    }
    let results = calls.iter().zip(results).map(|(call, output)| {
        let output = output.unwrap_or_else(|| Output::error("the tool crashed"));
        let mut result = ToolResult::new(&call.id, output.content);
        result.is_error = output.is_error;
        runner.hooks.on_tool_result(call, &result);
        Block::ToolResult(result)
    });
    results.collect()
}

/// Returns the tool if the call may be run, or else the result that the model gets instead.
async fn checked<'a>(runner: &'a ToolRunner, call: &ToolCall) -> Result<&'a Callable, Output> {
    let Some(tool) = runner.tools.iter().find(|tool| tool.definition().name() == Some(&call.name)) else {
        let names: Vec<&str> = runner.tools.iter().filter_map(|tool| tool.definition().name()).collect();
        return Err(Output::error(format!("there is no tool `{}`; the tools are {}", call.name, names.join(", "))));
    };
    if !call.is_complete() {
        return Err(Output::error("the arguments are cut off or not a JSON object; call the tool again"));
    }
    tool.check_elsewhere(call).await.map_err(|faults| {
        Output::error(format!(
            "the arguments do not match the tool's schema; fix them and call again:\n{}",
            faults.join("\n")
        ))
    })?;
    let Some(approve) = &runner.approve else { return Ok(tool) };
    match approve(call.clone()).await {
        Approval::Allow => Ok(tool),
        Approval::Deny(why) if why.is_empty() => Err(Output::error("this call was not allowed")),
        Approval::Deny(why) => Err(Output::error(format!("this call was not allowed: {why}"))),
    }
}

/// Runs a call. `timeout` applies to a tool without its own limit.
pub(super) async fn timed(tool: Callable, call: ToolCall, timeout: Option<Duration>, clock: Arc<dyn Clock>) -> Output {
    let Some(code) = tool.code else { return Output::error("nobody runs this tool") };
    let limit = match tool.timeout {
        Timeout::Inherited => timeout,
        Timeout::Own(limit) => limit,
    };
    let work = code(call);
    let Some(limit) = limit else { return work.await };
    match futures_util::future::select(work, clock.sleep(limit)).await {
        futures_util::future::Either::Left((output, _)) => output,
        futures_util::future::Either::Right(_) => {
            Output::error(format!("the tool took longer than {} s and was stopped", limit.as_secs_f64()))
        }
    }
}
