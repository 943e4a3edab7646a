/**
 * What this site keeps in the browser, by key: localStorage once it is opened, or memory where that is forbidden. Items are
 * used as properties, out of the way of pages that patch `Storage.prototype`.
 */
export let stored: { [key: string]: string } = {};

export const writeStored = (key: string, value: string): void => {
  try {
    stored[key] = value;
  } catch {
    // Full: this page goes on in memory. What it can't remove from the disk any more, the next page sends once again.
    stored = { ...stored, [key]: value };
  }
};

/** Goes over to localStorage, with what is in memory so far. Only then is anything stored, or even looked at. */
export const openStored = (): void => {
  const kept = stored;
  try {
    // Merely naming it throws in a sandboxed frame and with cookies blocked (HTML, "Web storage"); some Android WebViews
    // answer null.
    stored = window.localStorage || kept;
  } catch {}
  Object.keys(kept).map((key) => writeStored(key, kept[key] as string));
};

/** Forgets everything of ours (keys that begin with our name), on the disk too, and goes on in memory. */
export const eraseStored = (): void => {
  stored = {};
  openStored();
  Object.keys(stored).map((key) => /^firsthand/.test(key) && delete stored[key]);
  stored = {};
};
