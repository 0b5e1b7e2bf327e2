"""Runs the loads in turn and prints the table: report.py LOAD SCALE NAME=ADDRESS=PIDS…"""

import json
import statistics
import subprocess
import sys

load, scale = sys.argv[1], int(sys.argv[2])
proxies = {name: (address, pids) for name, address, pids in (word.split("=") for word in sys.argv[3:])}

# What is asked, the bytes of the request, connections, requests, and the most that is aimed at (same dialect, another).
CASES = [
    ("small", "small answer", 0, 32, 2000, 2.0, 4.0),
    ("small", "200 KB request", 200_000, 16, 300, 1.8, 10.0),
    ("paced", "stream, 50 deltas 10 ms apart", 0, 200, 200, 1.3, 2.0),
    ("burst", "stream, 100 deltas at once", 0, 16, 500, 9.0, 12.0),
]


def run(proxy, model, size, connections, requests):
    address, pids = proxies[proxy]
    words = [load, address, pids, model, str(size), str(connections), str(requests)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def cpu(proxy, model, size, connections, requests):
    """The median of three rounds, in microseconds for each request."""
    return statistics.median(run(proxy, model, size, connections, requests * scale)["cpu_us"] for _ in range(3))


print("\n| load | nginx, µs | hyper | same dialect | target | another dialect | target |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
missed = []
for kind, name, size, connections, requests, same_most, cross_most in CASES:
    plain = f"bench-{kind}"
    nginx = cpu("nginx", plain, size, connections, requests)
    floor = cpu("hyper", plain, size, connections, requests) / nginx
    same = cpu("gateway", f"same-{plain}", size, connections, requests) / nginx
    cross = cpu("gateway", f"cross-{plain}", size, connections, requests) / nginx
    print(f"| {name} | {nginx:,.0f} | {floor:.2f} | {same:.2f} | ≤ {same_most} | {cross:.2f} | ≤ {cross_most} |", flush=True)
    missed += [f"{name}, {what}" for what, got, most in [("same", same, same_most), ("cross", cross, cross_most)] if got > most]

print("\n| one request at a time, p50 | ms |")
print("| --- | ---: |")
latency = {}
for proxy, model in [("direct", "bench-small"), ("nginx", "bench-small"), ("hyper", "bench-small"),
                     ("gateway", "same-bench-small"), ("gateway", "cross-bench-small")]:
    p50 = statistics.median(run(proxy, model, 0, 1, 100 * scale)["p50_ms"] for _ in range(3))
    latency[model if proxy == "gateway" else proxy] = p50
    print(f"| {proxy} {model.split('-')[0] if proxy == 'gateway' else ''} | {p50:.3f} |", flush=True)
added = latency["same-bench-small"] - latency["nginx"]
print(f"\nadded to nginx's latency: {added:.3f} ms (target: 0.2)")

print("\n| memory for an open stream | KB |")
print("| --- | ---: |")
for proxy, model in [("nginx", "bench-slow"), ("hyper", "bench-slow"), ("gateway", "same-bench-slow"), ("gateway", "cross-bench-slow")]:
    each = run(proxy, model, 0, 200 * scale, "idle")["kb_each"]
    print(f"| {proxy} {model.split('-')[0] if proxy == 'gateway' else ''} | {each:.1f} |", flush=True)
if missed:
    print("\nmissed: " + "; ".join(missed))
