"""Translates recorded answers with citations and tools that providers run into every other dialect, for the SDKs to read.

Usage: translate.py PROGRAM RECORDINGS OUT   writes OUT/FROM.TO.ID.json, or .sse for streams
"""

import json
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
# The ends of the recordings' names.
RECORDINGS = """
3d0e1a6c c7f744c4 587c1eff 29629d9c 50a229ad e0e82088 b933e6c9 490153c7 0088aac4 d3bdec12 e628bc14 df6aefc0 1ca2369b 571d1250
2265a9d7 c239095a c7e05414 51b07827 cb0e64d1 9b7e426c a8e4e7dc 687598f3 453851c0 4d1f6fce efa33fbe 42e33ebd 116e846d 281a3f4b
663df1f1 b575ea32 3ddb6743 79b25b16 42ba8c52 30d1684e 20a0e76e 26c82392 df15d917 efb9f16d d4e0fbca a8ef44a7 ea22e77c 84fdfe6b
e1c3fc98 aa0d1417 53f77ede 16eb69ae 0eb586df 902a2005 5342431f 55c81273 d096291d 67570d47 d6ca068f 120fc1db 9f39f2c6 a6b1802b
e027ec10 2ee39fcf d92d0257 482ca971 de7c7014 4ece7d0c b7d92d83 c53c5f85 c8ffd4f2 ca8e32e0 833ec74b 263284ca 15556f0d 093fa665
5e8e53e1 a3f69d03 af208729 04d352d5 5d1cf4db d0fac798 b5da34fc
""".split()


def translate(program, file, source, target, out):
    response = json.loads(file.read_text())["response"]
    kind, end = ("stream", "sse") if response.get("sse") else ("response", "json")
    said = response["sse"] if kind == "stream" else json.dumps(response["body"])
    command = [program, "wire", "translate", "--from", source, "--to", target, "--kind", kind]
    done = subprocess.run(command, input=said.encode(), capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{file.name} to {target}: {done.stderr.decode()}")
    (out / f"{source}.{target}.{file.stem[-8:]}.{end}").write_bytes(done.stdout)


def main(program, recordings, out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    jobs = []
    for source in DIALECTS:
        files = [file for file in pathlib.Path(recordings, source).iterdir() if file.stem[-8:] in RECORDINGS]
        jobs += [(program, file, source, to, out) for file in files for to in DIALECTS if to != source]
    if len(jobs) != 3 * len(RECORDINGS):
        sys.exit(f"{recordings} has {len(jobs) // 3} of {len(RECORDINGS)} recordings")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: translate(*job), jobs))


main(*sys.argv[1:])
