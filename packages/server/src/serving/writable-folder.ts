import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { BadConfiguration } from '../config/config.ts';

/**
 * Creates a setting's folder if it is missing, and checks that this process can write to it; otherwise, a mistake would
 * be noticed only when the first backup or report fails. Throws BadConfiguration.
 */
export const requireWritable = (variable: string, folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Writes, because permissions don't show a read-only file system, such as one from systemd's ProtectSystem.
    rmdirSync(mkdtempSync(join(folder, '.writable-')));
  } catch (error) {
    throw new BadConfiguration(
      `${variable} is ${folder}, where the server can't write: ${(error as Error).message}. ` +
        "Choose a folder that the server's user may write to, and list it in ReadWritePaths of the systemd unit",
      { cause: error },
    );
  }
};
