"""Our client as a client of MCP servers made with the official SDK: the example `mcp`, against the simulator's model."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

from conftest import URL

SERVER = str(pathlib.Path(__file__).with_name("mcp_server.py"))
EXPECTED = "box__echo\nbox__fail (may change)\nbox__echo answered: hello\n"


def example(*arguments):
    # PATH and HOME are for the server that the example starts.
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = {**kept, "ANTHROPIC_API_KEY": "key-a", "ANTHROPIC_BASE_URL": URL, "IKIGAI_HOME": "/nowhere"}
    done = subprocess.run(
        [os.environ["IKIGAI_MCP_EXAMPLE"], *arguments], env=env, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_a_server_as_a_program():
    assert example(sys.executable, SERVER) == (0, EXPECTED, "")


def test_a_server_at_an_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, SERVER, str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        assert example(f"http://127.0.0.1:{port}/mcp") == (0, EXPECTED, "")
    finally:
        server.kill()
        server.wait()


def test_a_program_that_is_no_server_is_told_with_its_last_words():
    code, out, errors = example(sys.executable, "-c", "import sys; sys.exit('no such database')")
    assert (code, out) == (1, "")
    assert "has ended (exit status: 1); its last output:\n  no such database" in errors


def test_the_terminal_lends_the_tools_of_a_server_to_the_model(tmp_path):
    server = f"[mcp.box]\ncommand = {json.dumps([sys.executable, SERVER])}\n"
    (tmp_path / "config.toml").write_text(server + '[mcp.gone]\ncommand = ["no-such-program"]\n')
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = {**kept, "ANTHROPIC_API_KEY": "key-a", "ANTHROPIC_BASE_URL": URL, "IKIGAI_HOME": str(tmp_path)}
    ask = [os.environ["IKIGAI_PROGRAM"], "ask", "--no-save", "-m", "claude-haiku-4-5", "--tools"]
    question = 'use box__echo text="hello there"'
    refused = subprocess.run([*ask, question], env=env, input="", capture_output=True, text=True, timeout=60)
    assert "box__echo failed: this call was not allowed" in refused.stdout
    assert "MCP server gone: " in refused.stderr
    allowed = [*ask, "--allow", "box__echo", question]
    done = subprocess.run(allowed, env=env, input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "box__echo answered: hello there\n")
