import { existsSync, readFileSync, statSync } from 'node:fs';

/** The build folder and its list of sources. The list is written last: a build without it is incomplete. */
export const dist = new URL('../dist/', import.meta.url);
export const inputsFile = new URL('inputs.json', dist);

/** Whether the build is newer than all its sources. The npm package contains only the build. */
export const isBuilt = () => {
  if (!existsSync(new URL('../src/main.ts', dist))) return true;
  try {
    const builtMs = statSync(inputsFile).mtimeMs;
    const paths = JSON.parse(readFileSync(inputsFile, 'utf8'));
    return paths.every((path) => statSync(new URL(path, new URL('../', dist))).mtimeMs < builtMs);
  } catch {
    return false;
  }
};
