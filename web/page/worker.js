// Caches the page for offline use: the files of one build under one name; the page itself comes from the
// network whenever that answers.
"use strict";
const CACHE = "sparsescope-{{version}}";
const FILES = {{files}};
const PAGE = new URL("./", self.location).href;
const kept = new Set(FILES.map((file) => new URL(file, PAGE).href));

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll(["./", ...FILES]);
  await self.skipWaiting();
}

async function takeOver() {
  const old = (await caches.keys()).filter((name) => name.startsWith("sparsescope-") && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** A file whose name changes with its content. */
async function first(request) {
  return (await caches.match(request)) ?? fetch(request);
}

/** What may have changed, and what is kept of it when the network does not answer. */
async function last(request, place) {
  try {
    const response = await fetch(request);
    if (response.ok) {
      await (await caches.open(CACHE)).put(place, response.clone());
    }
    return response;
  } catch (error) {
    const found = await caches.match(place);
    if (found) {
      return found;
    }
    throw error;
  }
}

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const address = url.origin + url.pathname;
  if (request.method !== "GET" || url.origin !== self.location.origin) {
    return;
  }
  if (address === PAGE || address === `${PAGE}index.html`) {
    event.respondWith(last(request, PAGE));
  } else if (address.startsWith(`${PAGE}examples/`)) {
    event.respondWith(last(request, address));
  } else if (kept.has(address)) {
    event.respondWith(first(request));
  }
});
