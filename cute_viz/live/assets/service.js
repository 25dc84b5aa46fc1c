// Keeps the files of the site, so that it works without a network once it was loaded; a new version of the site replaces them.
const KEPT = "cute-viz {{version}}", FILES = {{files}};

self.addEventListener("install", (event) => event.waitUntil((async () => {
  await (await caches.open(KEPT)).addAll(FILES);
  await self.skipWaiting();
})()));
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("cute-viz ") && name !== KEPT) await caches.delete(name);
  await self.clients.claim();
})()));
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith((async () => {
    const kept = await caches.open(KEPT), page = event.request.mode === "navigate";
    if (!page) {
      const found = await kept.match(event.request);
      if (found) return found;
    }
    try {
      const response = await fetch(event.request);
      if (response.ok) await kept.put(event.request, response.clone());
      return response;
    } catch (error) {
      const found = await kept.match(event.request, { ignoreSearch: true });
      if (found) return found;
      throw error;
    }
  })());
});
