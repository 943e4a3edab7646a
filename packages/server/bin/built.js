import { readFileSync, statSync } from 'node:fs';

/** Where the built server is, its list of what it was made of last: what has none is half a build. */
export const dist = new URL('../dist/', import.meta.url);
export const inputsFile = new URL('inputs.json', dist);

/** Is there a built server, newer than all that it was made of? */
export const isBuilt = () => {
  try {
    const builtMs = statSync(inputsFile).mtimeMs;
    const paths = JSON.parse(readFileSync(inputsFile, 'utf8'));
    return paths.every((path) => statSync(new URL(path, new URL('../', dist))).mtimeMs < builtMs);
  } catch {
    return false;
  }
};
