// What the page shows, and how it is the fragment of its address: JSON, deflated, in base64url; and back.
export const BLANK = { source: "", options: {}, let: "", name: "", launch: "", file: false, tab: "", by: "", find: "", panel: 0, zoom: 0, access: "", accessor: "", against: "", named: "" };
export const state = { ...BLANK, lent: {} }; // lent: options that the example of the text brought, which end with it

// What belongs to the text, and is undone with it.
export const own = () => ({ options: { ...state.options }, let: state.let, name: state.name, launch: state.launch, lent: { ...state.lent } });

const MOST = 1 << 20; // characters that a fragment may unfold to

const bytes = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());
const through = (data, stream) => new Blob([data]).stream().pipeThrough(stream);

export async function pack(state) {
  const kept = Object.fromEntries(Object.entries(state).filter(([name, value]) =>
    name !== "lent" && value !== null && value !== "" && value !== false && value !== 0 && !(typeof value === "object" && !Object.keys(value).length)));
  const data = await bytes(through(new TextEncoder().encode(JSON.stringify(kept)), new CompressionStream("deflate-raw")));
  let text = "";
  for (const byte of data) text += String.fromCharCode(byte);
  return "z" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// The state of a fragment; null of one that holds none.
export async function unpack(fragment) {
  const text = fragment.replace(/^#/, "");
  if (text.startsWith("source=")) return worded(text);
  if (!text.startsWith("z")) return null;
  try {
    const data = Uint8Array.from(atob(text.slice(1).replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const reader = through(data, new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream()).getReader();
    let json = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      json += value;
      if (json.length > MOST) return null;
    }
    return checked(JSON.parse(json));
  } catch {
    return null;
  }
}

// A fragment in words, as documents and galleries link to the page: source=(4,8)&view=grid
function worded(text) {
  const { source, ...options } = Object.fromEntries(new URLSearchParams(text.replaceAll("+", "%2B")));
  return checked({ source, options });
}

function checked(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const words = (given) => Object.fromEntries(Object.entries(typeof given === "object" && given ? given : {})
    .filter(([, word]) => ["string", "number", "boolean"].includes(typeof word)));
  const text = (given) => (typeof given === "string" ? given : "");
  const share = (given) => (given > 0 ? Math.min(85, Math.max(15, Math.round(+given))) : 0);
  return { source: text(value.source), options: words(value.options), let: text(value.let), name: text(value.name), launch: text(value.launch), beside: value.beside === true, split: share(value.split), dock: share(value.dock), file: value.file === true, tab: text(value.tab), by: text(value.by), find: text(value.find), panel: Math.max(0, Math.floor(+value.panel)) || 0, zoom: +value.zoom > 0 ? Math.min(32, +value.zoom) : 0, access: text(value.access), accessor: text(value.accessor), against: text(value.against), named: text(value.named) };
}
