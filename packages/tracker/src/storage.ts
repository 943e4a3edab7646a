/**
 * What this site keeps in the browser, by key: localStorage once it is opened, or memory where that is forbidden. Items are
 * used as properties, out of the way of pages that patch `Storage.prototype`.
 */
export let stored: { [key: string]: string } = {};

/** Our keys that this page knows of. A site may have thousands of its own: they are walked once, when storage is opened. */
export const ourKeys: Record<string, unknown> = {};

/** Notes a key that another tab, or an earlier page, has written; one that is not ours is ignored. */
export const noteKey = (key: string | null): void => {
  if (/^firsthand/.test(key as string)) ourKeys[key as string] = 1;
};

export const writeStored = (key: string, value: string): void => {
  noteKey(key);
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
    stored = localStorage || kept;
  } catch {}
  Object.keys(stored).map(noteKey);
  Object.keys(kept).map((key) => writeStored(key, kept[key] as string));
};

/** Forgets everything of ours (keys that begin with our name), on the disk too, and goes on in memory. */
export const eraseStored = (): void => {
  stored = {};
  openStored();
  Object.keys(ourKeys).map((key) => delete stored[key]);
  stored = {};
};
