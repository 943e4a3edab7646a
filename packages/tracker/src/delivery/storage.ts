/**
 * The tracker's storage: localStorage once it is opened, or memory if localStorage is forbidden. Items are accessed as
 * properties, because some pages patch `Storage.prototype`.
 */
export let stored: { [key: string]: string } = {};

/**
 * This page's copies of the tracker's items, oldest record first. They survive a script that clears localStorage. The
 * keys of localStorage are listed only when it is opened, because a site may have thousands.
 */
export let copies: Record<string, string> = {};

/**
 * Updates the copy of an item that this page, an earlier page or another tab has written, or removed (null). Ignores
 * other scripts' keys.
 */
export const updateCopy = (key: string | null, value: string | null): void => {
  if (/^firsthand/.test(key as string)) {
    if (value) copies[key as string] = value;
    else delete copies[key as string];
  }
};

export const writeItem = (key: string, value: string): void => {
  updateCopy(key, value);
  try {
    stored[key] = value;
  } catch {
    // If the storage is full, this page continues in memory. The next page resends records that this page can't remove
    // from the disk.
    stored = { ...copies };
  }
};

export const removeItem = (key: string): void => {
  delete copies[key];
  delete stored[key];
};

/** Writes the copies to storage again, because a script may have cleared it. */
export const writeCopies = (): void => {
  for (const key of Object.keys(copies)) writeItem(key, copies[key] as string);
};

/**
 * Switches to localStorage and copies the items in memory to it. Nothing in localStorage is read or written before this
 * call.
 */
export const openStorage = (): void => {
  try {
    // Reading `localStorage` throws in a sandboxed frame and with cookies blocked (HTML, "Web storage"); in some
    // Android WebViews it is null.
    stored = localStorage || stored;
  } catch {}
  for (const key of Object.keys(stored).sort()) updateCopy(key, stored[key] as string);
  writeCopies();
};

/** Replaces the copies with the storage's contents. */
export const reloadCopies = (): void => {
  copies = {};
  openStorage();
};

/**
 * Erases all of the tracker's items (keys that begin with `firsthand`), including those on disk, and continues in
 * memory.
 */
export const eraseStorage = (): void => {
  reloadCopies();
  for (const key of Object.keys(copies)) removeItem(key);
  stored = {};
};
