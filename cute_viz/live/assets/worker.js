// The engine in a worker of the browser: Pyodide, and in it this package; it answers as the server does.
let answer = null;

onmessage = async ({ data }) => {
  if (data.start) {
    try { await start(data.start); postMessage({ ready: true }); }
    catch (error) { postMessage({ said: `Python cannot be loaded: ${error.message || error}` }); }
    return;
  }
  let out;
  try { out = answer(data.question); }
  catch (error) { out = JSON.stringify({ error: { message: String(error.message || error).trim().split("\n").pop() } }); }
  postMessage({ number: data.number, answer: out });
};

async function start({ pyodide, files }) {
  const { loadPyodide } = await import(new URL("pyodide.mjs", pyodide).href);
  const fetched = Promise.all(files.map(async (url) => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    return response.arrayBuffer();
  }));
  const python = await loadPyodide({ indexURL: pyodide });
  postMessage({ said: "loading cute-viz …" });
  for (const data of await fetched) python.unpackArchive(data, "zip", { extractDir: "/lib/cute-viz" });
  answer = python.runPython(`
import sys
sys.path.insert(0, "/lib/cute-viz")
import json
from cute_viz.live.questions import answer
answer({"source": "(4,8):(8,1)"})
lambda text: json.dumps(answer(json.loads(text)), separators=(",", ":"), default=str)
`);
}
