import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { describeStore } from '../../../test/conformance/index.ts';
import { kind } from '../../../test/fixtures/database.ts';
import { createSite } from '../../../test/fixtures/site.ts';
import { smallSegments } from '../../../test/fixtures/small-segments.ts';
import { soon } from '../../../test/fixtures/timeouts.ts';
import { noContactMerges } from '../../identity/merged-entries.ts';
import { openStore } from '../open.ts';
import { planSearch } from '../rules/contact-search.ts';
import { openConnection } from './database/connection.ts';
import type { Tuning } from './tuning.ts';

describe('a SQLite file store', () => {
  let folder: string;
  let files = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const open = (tuning?: Tuning) => {
    files += 1;
    const databaseURL = `sqlite:${join(folder, `${files}.db`)}`;
    return openStore({ databaseURL, role: 'server', onFatal: fail, tuning });
  };
  // Runs the suite on a file only in `segments`: `npm test` runs it in memory, because starting threads for each test
  // would dominate its duration.
  if (kind === 'segments') describeStore('SQLite in a file, with its threads', () => open(smallSegments));

  test('passes block and segment sizes to the writer thread', async () => {
    const store = await open(smallSegments);
    const { server } = await createSite(store);
    const { eventsPerSegment = 0, eventsPerBlock = 0 } = smallSegments;
    for (let nth = 0; nth < 2 * eventsPerSegment; nth += 1) await server.log({});
    const db = openConnection(join(folder, `${files}.db`), 'read');
    onTestFinished(() => void db.close());
    const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    await vi.waitUntil(() => count('event_segment') > 0, soon);
    expect(db.prepare('SELECT max(count) FROM event_block').pluck().get()).toBe(eventsPerBlock);
    expect(await store.close()).toBeUndefined();
  });

  test('leaves none of an erased contact’s index terms in the files', async () => {
    const store = await open();
    const { server, account, erase } = await createSite(store);
    const attributes = [['phone', '+49 555 0123456']] as const;
    const { contactUUID } = await server.createContact({ userUUID: null, attributes });
    const search = { account, limit: 1, attrID: 'phone', attrValue: attributes[0][1] };
    expect((await store.searchContact(search)).contacts).toMatchObject([{ contactUUID }]);
    const [[term] = []] = planSearch(search, noContactMerges).terms;
    const bytes = Buffer.alloc(6);
    bytes.writeUIntBE(term as number, 0, 6);
    const filesWithTerm = () =>
      readdirSync(folder).filter((name) => {
        const content = readFileSync(join(folder, name));
        return name.startsWith(`${files}.db`) && (content.includes(bytes) || content.includes(String(term)));
      });
    await vi.waitUntil(() => filesWithTerm().length > 0, soon);
    await erase(contactUUID);
    await vi.waitUntil(() => filesWithTerm().length === 0, soon);
    await store.close();
    expect(filesWithTerm()).toEqual([]);
  });
});

function fail(error: Error): never {
  throw error;
}
