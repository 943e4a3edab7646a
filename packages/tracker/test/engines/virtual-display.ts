/** A virtual display, for a browser without a headless mode. */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { killGroup, startGroup } from './processes.ts';

const xvfbPath = '/usr/bin/Xvfb';

interface Screen {
  /** The value of DISPLAY: `:99`. */
  readonly display: string;
  close(): Promise<void>;
}

const readDisplayNumber = (xvfb: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    (xvfb.stdio[3] as Readable).on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.trim());
    });
    xvfb.once('error', reject);
    xvfb.once('exit', (code) => reject(new Error(`Xvfb exited with code ${code} before it was ready`)));
  });

/** Opens the first free display. */
export const openScreen = async (): Promise<Screen> => {
  const xvfb = startGroup(xvfbPath, ['-displayfd', '3', '-screen', '0', '1024x768x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  return { display: `:${await readDisplayNumber(xvfb)}`, close: () => killGroup(xvfb) };
};
