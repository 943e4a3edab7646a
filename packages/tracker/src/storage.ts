/**
 * What this site keeps in the browser, by key: localStorage, or memory where it is forbidden. Items are used as properties,
 * out of the way of pages that patch `Storage.prototype`.
 */
export let stored: { [key: string]: string } = {};

try {
  // Merely naming it throws in a sandboxed frame and with cookies blocked (HTML, "Web storage"); some Android WebViews
  // answer null; a server has no window.
  stored = window.localStorage || stored;
} catch {}

export const writeStored = (key: string, value: string): void => {
  try {
    stored[key] = value;
  } catch {
    // Full: this page goes on in memory. What it can't remove from the disk any more, the next page sends once again.
    stored = { ...stored, [key]: value };
  }
};
