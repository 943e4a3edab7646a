import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { BadConfiguration } from '../config/config.ts';

/**
 * Creates the folder that a setting names, unless it exists, and checks that this process can write to it: a mistake would otherwise
 * show only when the first backup or report fails. Throws BadConfiguration.
 */
export const requireWritable = (variable: string, folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Writes, because permissions alone don't show a read-only file system, as systemd's ProtectSystem makes.
    rmdirSync(mkdtempSync(join(folder, '.writable-')));
  } catch (error) {
    throw new BadConfiguration(
      `${variable} is ${folder}, where the server can't write: ${(error as Error).message}. ` +
        'Name a folder that its user may write to, and that its systemd unit lists in ReadWritePaths',
      { cause: error },
    );
  }
};
