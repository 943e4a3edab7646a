/**
 * The items that this site stores in the browser, by key: localStorage once it is opened, or memory if that is forbidden. Items are
 * read and written as properties, because some pages patch `Storage.prototype`.
 */
export let stored: { [key: string]: string } = {};

/**
 * This page's copies of the tracker's items, oldest record first. They stay when a script clears localStorage. All keys of
 * localStorage are listed only once, on opening, because a site may have thousands.
 */
export let copies: Record<string, string> = {};

/** Notes an item that this page, an earlier page or another tab has written, or removed (null). Keys of other scripts are ignored. */
export const noteItem = (key: string | null, value: string | null): void => {
  if (/^firsthand/.test(key as string)) {
    if (value) copies[key as string] = value;
    else delete copies[key as string];
  }
};

export const writeStored = (key: string, value: string): void => {
  noteItem(key, value);
  try {
    stored[key] = value;
  } catch {
    // If the storage is full, this page goes on in memory. The next page repeats records that this one can't remove from the disk.
    stored = { ...copies };
  }
};

export const removeStored = (key: string): void => {
  delete copies[key];
  delete stored[key];
};

/** Writes the copies to the storage, where a script may have cleared them. */
export const writeCopies = (): void => {
  for (const key of Object.keys(copies)) writeStored(key, copies[key] as string);
};

/** Switches to localStorage, and copies the items in memory to it. Before this call nothing in it is read or written. */
export const openStored = (): void => {
  try {
    // Reading `localStorage` throws in a sandboxed frame and with cookies blocked (HTML, "Web storage"); in some Android WebViews
    // it is null.
    stored = localStorage || stored;
  } catch {}
  for (const key of Object.keys(stored).sort()) noteItem(key, stored[key] as string);
  writeCopies();
};

/** Replaces the copies by what is in the storage. */
export const rereadStored = (): void => {
  copies = {};
  openStored();
};

/** Erases all items of the tracker (keys that begin with `firsthand`), on the disk too, and goes on in memory. */
export const eraseStored = (): void => {
  rereadStored();
  for (const key of Object.keys(copies)) removeStored(key);
  stored = {};
};
