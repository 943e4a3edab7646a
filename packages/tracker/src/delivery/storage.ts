/**
 * The items that this site stores in the browser, by key: localStorage once it is opened, or memory if that is forbidden. Items are
 * read and written as properties, because some pages patch `Storage.prototype`.
 */
export let stored: { [key: string]: string } = {};

/** The tracker's keys that this page knows of. All keys are listed only once, on opening, because a site may have thousands. */
export const ourKeys: Record<string, unknown> = {};

/** Notes a key that another tab or an earlier page has written. Keys of other scripts are ignored. */
export const noteKey = (key: string | null): void => {
  if (/^firsthand/.test(key as string)) ourKeys[key as string] = key;
};

export const writeStored = (key: string, value: string): void => {
  noteKey(key);
  try {
    stored[key] = value;
  } catch {
    // If the storage is full, this page goes on in memory. The next page repeats records that this one can't remove from the disk.
    stored = { ...stored, [key]: value };
  }
};

/** Switches to localStorage, and copies the items in memory to it. Before this call nothing in it is read or written. */
export const openStored = (): void => {
  const kept = stored;
  try {
    // Reading `localStorage` throws in a sandboxed frame and with cookies blocked (HTML, "Web storage"); in some Android WebViews
    // it is null.
    stored = localStorage || kept;
  } catch {}
  Object.keys(stored).map(noteKey);
  Object.keys(kept).map((key) => writeStored(key, kept[key] as string));
};

/** Erases all items of the tracker (keys that begin with `firsthand`), on the disk too, and goes on in memory. */
export const eraseStored = (): void => {
  stored = {};
  openStored();
  Object.keys(ourKeys).map((key) => delete stored[key]);
  stored = {};
};
