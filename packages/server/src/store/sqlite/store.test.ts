import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeStore } from '../../../test/conformance/index.ts';
import { openStore } from '../open.ts';

describeStore('SQLite in memory', async () =>
  openStore({ databaseURL: 'sqlite::memory:', role: 'server', onFatal: fail }),
);

describe('in a folder of its own', () => {
  let folder: string;
  let files = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  describeStore('SQLite in a file, with its threads', () => {
    files += 1;
    return openStore({ databaseURL: `sqlite:${join(folder, `${files}.db`)}`, role: 'server', onFatal: fail });
  });
});

function fail(error: Error): never {
  throw error;
}
