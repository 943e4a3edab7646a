import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exportAllEvents } from '../../src/commands/export/all-events.ts';
import { readEventPages } from '../../src/commands/export/event-parts.ts';
import { exportIncrement } from '../../src/commands/export/increment.ts';
import { queryExport, queryFiles } from '../fixtures/exports.ts';
import { runs } from '../fixtures/runs.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import { day, laptop, phone, tablet } from '../fixtures/store.ts';
import { historyArbitrary, playHistory } from '../fixtures/world.ts';
import { createImportHelpers } from './imports.ts';
import type { NewSite, Open } from './sites.ts';

/** Lists the event files, with their sizes and modification times. */
const listEvents = (folder: string): string[] =>
  readdirSync(join(folder, 'events'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.parquet'))
    .map((name) => `${name} ${statSync(join(folder, 'events', name)).mtimeMs}`);

/** All tables except the events. */
const everything = ['contacts', 'links', 'owners', 'merged_contacts', 'event_names']
  .map((table) => `SELECT '${table}' AS name, ${table}::VARCHAR AS row FROM ${table}`)
  .join(' UNION ALL ')
  .concat(' ORDER BY ALL');

export const describeExports = (newSite: NewSite, open: Open): void => {
  describe('an incremental export', () => {
    let root: string;
    let folders = 0;
    beforeAll(() => {
      root = mkdtempSync(join(tmpdir(), 'firsthand-export-'));
    });
    afterAll(() => rmSync(root, { recursive: true }));
    const newFolder = (): string => {
      folders += 1;
      return join(root, String(folders));
    };
    const run = ({ store, account, accountUUID }: Site, folder: string, options: object = {}) =>
      exportIncrement(store, { account, accountUUID, folder, ...options });

    const positionOf = async (site: Site): Promise<string> => {
      const folder = newFolder();
      await run(site, folder);
      return readFileSync(join(folder, 'position.json'), 'utf8');
    };

    /** Expects the views to equal a full export of all events, and the other tables to equal those of a new export. */
    const expectComplete = async (site: Site, folder: string): Promise<void> => {
      const all = newFolder();
      await exportAllEvents(all, readEventPages(site.store, { account: site.account }));
      const columns =
        'sequence, eventUUID, eventID, eventName, eventTime, receivedTime, userUUID, contactUUID, attributes';
      expect(await queryExport(folder, `SELECT ${columns} FROM events ORDER BY sequence`)).toEqual(
        await queryFiles(`SELECT ${columns} FROM '*.parquet' ORDER BY sequence`, all),
      );
      const fresh = newFolder();
      await run(site, fresh);
      expect(await queryExport(folder, everything)).toEqual(await queryExport(fresh, everything));
    };

    test('removes an undone import’s events, even if the import was undone before the next run', async () => {
      const site = await newSite();
      const { create, event, contact, add, undo } = createImportHelpers(site);
      await site.server.log({ userUUID: laptop });
      const { importID } = await create('a.jsonl');
      await add(importID, 0, [
        event({ userUUID: laptop, eventUUID: 'event-01' }),
        event({ userUUID: phone, eventUUID: 'event-02' }),
        contact({ userUUID: phone, address: 'ann@example.com' }),
      ]);
      await site.server.log({ userUUID: phone });
      const folder = newFolder();
      expect(await run(site, folder)).toMatchObject({ events: 4, removed: 0 });
      await undo(importID);
      expect(await run(site, folder)).toMatchObject({ events: 0, removed: 2, restarted: null });
      await expectComplete(site, folder);
    });

    test('has an account’s events, contacts, links and owners', async () => {
      const site = await newSite();
      const { server, browser } = site;
      await server.log({ userUUID: laptop, attributes: [['plan', 'pro']] }, { userUUID: phone });
      const attributes = [['shoe size', '42']] as const;
      const address = 'ann@example.com';
      const ann = await server.createContact({ userUUID: laptop, address, tags: ['vip'], attributes });
      await browser.createContact({ userUUID: phone, address });
      const ben = await server.createContact({ userUUID: tablet, address: 'ben@example.com' });
      await site.unlink(laptop);
      await server.log(
        { userUUID: laptop },
        { userUUID: laptop, contactUUID: ben.contactUUID, eventID: null, eventName: 'Paid' },
      );
      await site.merge(ann.contactUUID, ben.contactUUID);
      const folder = newFolder();
      expect(await run(site, folder)).toMatchObject({ events: 4, removed: 0, restarted: null });

      const { contacts } = await site.store.searchContact({ account: site.account, limit: 9 });
      expect(await queryExport(folder, 'SELECT * FROM contacts')).toMatchObject([
        {
          contactUUID: ann.contactUUID,
          contactEmailaddress: address,
          contactTelephone: null,
          tags: ['vip'],
          attributes: [{ key: 'shoe size', value: '42' }],
          contactStatus: contacts[0]?.contactStatus,
        },
      ]);
      const { links = [] } = await server.getContact(ann.contactUUID, 'link');
      const read = await queryExport(folder, 'SELECT *, epoch_ms(linkTime) AS time FROM links ORDER BY linkID::BIGINT');
      const toRow = ({ linkID, userUUID, contactUUID, linkTime, verified, voided }: (typeof links)[number]) => ({
        ...{ linkID, userUUID, contactUUID, time: String(linkTime), verified, voided },
      });
      expect(read.filter(({ contactUUID }) => contactUUID !== null)).toMatchObject(links.map(toRow));
      expect(read.filter(({ contactUUID }) => contactUUID === null)).toMatchObject([{ userUUID: laptop }]);
      const owner = "SELECT contactUUID FROM owners WHERE throughSequence IS NULL AND userUUID = 'phone-of-ann-0001'";
      expect(await queryExport(folder, owner.replace('phone-of-ann-0001', phone))).toEqual([
        { contactUUID: ann.contactUUID },
      ]);
      expect(
        await queryExport(folder, 'SELECT eventName, userUUID, contactUUID, attributes FROM events ORDER BY sequence'),
      ).toEqual([
        ...[
          {
            eventName: '1',
            userUUID: laptop,
            contactUUID: ann.contactUUID,
            attributes: [{ key: 'plan', value: 'pro' }],
          },
        ],
        ...[{ eventName: '1', userUUID: phone, contactUUID: ann.contactUUID, attributes: [] }],
        ...[{ eventName: '1', userUUID: laptop, contactUUID: ann.contactUUID, attributes: [] }],
        ...[{ eventName: 'Paid', userUUID: laptop, contactUUID: ann.contactUUID, attributes: [] }],
      ]);
    });

    test('adds one file for each day with new events, and changes no other', async () => {
      const site = await newSite();
      const { time, server } = site;
      const folder = newFolder();
      await server.logAt(time, {}, { eventTime: time - 2 * day }, {});
      await run(site, folder);
      const before = listEvents(folder);
      expect(before).toHaveLength(2);
      expect(await run(site, folder)).toMatchObject({ events: 0 });
      expect(listEvents(folder)).toEqual(before);
      await server.logAt(time, {});
      await run(site, folder);
      const after = listEvents(folder);
      expect(after).toHaveLength(3);
      expect(after).toEqual(expect.arrayContaining(before));
      await expectComplete(site, folder);
    });

    test('removes erased people from its files', async () => {
      const site = await newSite();
      const { server, time } = site;
      const { contactUUID } = await server.createContact({ userUUID: laptop, address: 'ann@example.com' });
      const { contactUUID: other } = await server.createContact({ userUUID: null, address: 'ann@work.example' });
      await site.merge(contactUUID, other);
      const folder = newFolder();
      // Erases events on three days: all of one day, some of another, and none of the third.
      await server.log({ userUUID: laptop }, { userUUID: null, contactUUID: other });
      await server.log({ userUUID: laptop, eventTime: time - day }, { userUUID: tablet, eventTime: time - day });
      await server.log({ userUUID: phone, eventTime: time - 2 * day });
      await run(site, folder);
      const before = listEvents(folder);
      await site.erase(contactUUID);
      expect(await run(site, folder)).toMatchObject({ events: 0, removed: 3, restarted: null });
      expect(listEvents(folder)).toHaveLength(2);
      expect(listEvents(folder).filter((file) => before.includes(file))).toHaveLength(1);
      await expectComplete(site, folder);
      const names = `'${contactUUID}', '${other}'`;
      for (const [table, column] of [
        ...[
          ['contacts', 'contactUUID'] as const,
          ['links', 'contactUUID'] as const,
          ['owners', 'contactUUID'] as const,
        ],
        ...[['merged_contacts', 'contactUUID'] as const, ['merged_contacts', 'ownerUUID'] as const],
      ])
        expect(await queryExport(folder, `SELECT * FROM ${table} WHERE ${column} IN (${names})`), table).toEqual([]);
      await server.log({ userUUID: laptop });
      expect(await run(site, folder)).toMatchObject({ events: 1, removed: 0, restarted: null });
      await expectComplete(site, folder);
    });

    test('removes events that retention deleted', async () => {
      // Opens a separate store, because retention deletes events in all accounts.
      const store = await open();
      onTestFinished(() => store.close());
      const site = await createSite(store);
      const { server, time } = site;
      const folder = newFolder();
      await server.logAt(time, {}, {});
      await server.logAt(time + 5 * day, {});
      await run(site, folder);
      expect(await store.deleteEventsBefore({ time: time + day, limit: 100 })).toBe(2);
      expect(await run(site, folder)).toMatchObject({ removed: 2, restarted: null });
      await expectComplete(site, folder);
    });

    test('follows renamed events, and starts over when attributes or events are merged', async () => {
      const site = await newSite();
      const { store, account, time, server } = site;
      const folder = newFolder();
      await server.log(
        { eventID: 7, attributes: [['colour', 'red']] },
        { eventID: 8, attributes: [['color', 'blue']] },
      );
      await run(site, folder);
      await site.change({ catalogues: { event: [{ id: '7', name: 'Paid' }] } });
      expect(await run(site, folder)).toMatchObject({ restarted: null });
      await expectComplete(site, folder);
      for (const [kind, id, otherID] of [
        ['attr', 'color', 'colour'],
        ['event', '7', '8'],
      ] as const) {
        await store.mergeEntry({ account, kind, id, otherID, time });
        expect(await run(site, folder)).toMatchObject({ restarted: expect.stringContaining('were merged'), events: 2 });
        await expectComplete(site, folder);
        await store.unmergeEntry({ account, kind, otherID, time });
        await run(site, folder);
        await expectComplete(site, folder);
      }
    });

    test('starts over when event files are missing', async () => {
      const site = await newSite();
      const { server, time } = site;
      const folder = newFolder();
      await server.log({}, { eventTime: time - day });
      await run(site, folder);
      const [file] = listEvents(folder);
      for (const path of [file?.split(' ')[0] as string, '.']) {
        rmSync(join(folder, 'events', path), { recursive: true });
        expect(await run(site, folder)).toMatchObject({ restarted: expect.stringContaining('missing'), events: 2 });
        await expectComplete(site, folder);
      }
    });

    test('starts over when its saved position does not match the database, for example after a restore', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const folder = newFolder();
      await other.server.log({});
      await site.server.log({}, {});
      await run(site, folder);
      await other.server.log({});
      const path = join(folder, 'position.json');
      const position = JSON.parse(readFileSync(path, 'utf8'));
      for (const changes of [{ owners: '999999999999 1' }, { through: 1e12 }]) {
        writeFileSync(path, JSON.stringify({ ...position, ...changes }));
        expect(await run(site, folder)).toMatchObject({ events: 2, restarted: expect.stringContaining('restored') });
        await expectComplete(site, folder);
      }
      // Simulates a restored backup without these events, whose sequences now belong to other events.
      const copy = { ...site, account: other.account };
      writeFileSync(path, JSON.stringify({ ...position, owners: JSON.parse(await positionOf(other)).owners }));
      expect(await run(copy, folder)).toMatchObject({ events: 2, restarted: expect.stringContaining('restored') });
    });

    test('adds each event once after a failed export', async () => {
      const site = await newSite();
      const { server, time } = site;
      const folder = newFolder();
      await server.log({}, {});
      await run(site, folder);
      await server.createContact({ userUUID: laptop, address: 'ann@example.com' });
      await server.log({ userUUID: laptop }, { eventTime: time - day }, {});
      for (const name of ['getEvents', 'feedOwners', 'listUserLinks', 'searchContact', 'listCatalogue'] as const) {
        let calls = 0;
        const failing = (query: never): Promise<never> => {
          calls += 1;
          const original: (query: never) => Promise<unknown> = site.store[name];
          return calls > 2 ? Promise.reject(new Error('gone')) : (original(query) as Promise<never>);
        };
        await run({ ...site, store: { ...site.store, [name]: failing } }, folder, { maxEvents: 1 }).catch(
          ({ message }) => expect(message).toBe('gone'),
        );
      }
      await run(site, folder);
      await expectComplete(site, folder);
    });

    test('equals a new export after any changes between its increments', async () => {
      await fc.assert(
        fc.asyncProperty(
          historyArbitrary,
          fc.integer({ min: 2, max: 12 }),
          fc.boolean(),
          async (history, every, awaitErasures) => {
            const site = await newSite();
            const folder = newFolder();
            let restarts = 0;
            const afterChange = async (nth: number) => {
              if (nth % every !== 0) return;
              const { restarted } = await run(site, folder, { maxEvents: 4 });
              if (restarted !== null) restarts += 1;
            };
            await playHistory(site, history, { afterChange, awaitErasures });
            await run(site, folder, { maxEvents: 4 });
            await expectComplete(site, folder);
            expect(restarts).toBe(0);
          },
        ),
        { numRuns: runs(1, 5) },
      );
    });
  });
};
