import type { ContactStatus } from '@firsthand/contract/contact';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { ContactChange, ImportStep, NewContact } from '../../src/store/store.ts';
import type { Site } from '../fixtures/site.ts';
import { ann, ben, contactChange, expectRefusal, hashText, newContact, newID, phone } from '../fixtures/store.ts';
import { soon } from '../fixtures/timeouts.ts';
import type { NewSite } from './sites.ts';

const addresses = [ann, ben, 'cleo@example.com', 'dan@example.com'];

/** Returns helpers that import contacts into a site. */
const importsOf = ({ store, account, server, time }: Site) => {
  const caller = { account, token: server.token, browser: false };
  const batch = { ...caller, receivedTime: time, defaultProfileID: 'customer', replaces: true };
  const create = async (): Promise<string> => {
    const importID = newID('import');
    const file = { kind: 'contacts', importName: 'contacts.csv', fingerprint: hashText(importID) } as const;
    await store.createImport({ account, importID, ...file, time });
    return importID;
  };
  return {
    create,
    contact: (changes: Partial<NewContact>, contactStatus?: ImportStep['contactStatus']): ImportStep => ({
      contact: { ...newContact({ time, userUUID: null, ...changes }), ...caller, verified: true },
      contactStatus,
    }),
    add: async (importID: string, position: number, ...steps: ImportStep[]) => {
      const place = { importID, kind: 'contacts', position, records: steps.length, isLast: false } as const;
      return (await store.addToImport({ ...batch, ...place, steps })).outcomes;
    },
    preview: (...steps: ImportStep[]) => store.previewImport({ ...batch, steps }),
    undo: async (importID: string, undoneTime = time) => {
      await store.undoImport({ account, importID, time: undoneTime });
      return vi.waitFor(
        async () => {
          const undone = await store.undoImport({ account, importID, time: undoneTime });
          expect(undone.state).toBe('undone');
          return undone;
        },
        { ...soon, interval: 20 },
      );
    },
    /** Returns the values of the contact with this address; undefined if there is none. */
    read: async (address: string): Promise<State | undefined> => {
      const { contacts } = await store.searchContact({ account, address, limit: 1 });
      return contacts[0] && toState(contacts[0]);
    },
  };
};

/** A contact's values by name, without absent ones. */
type State = Readonly<Record<string, string>>;

const toState = ({
  fields,
  tags,
  attributes,
  contactStatus,
}: Awaited<ReturnType<Site['store']['searchContact']>>['contacts'][number]): State => {
  const { contactFirstname, contactExternalID, contactProfileID } = fields;
  const entries = [
    ...Object.entries({ contactFirstname, contactExternalID, contactProfileID, contactStatus }),
    ...tags.map(({ tagID }) => [`tag ${tagID}`, 'true'] as const),
    ...attributes.map(([attrID, attrValue]) => [`attr ${attrID}`, attrValue] as const),
  ];
  return Object.fromEntries(entries.filter(([, value]) => value !== '').sort());
};

const sorted = (state: Readonly<Record<string, string | undefined>>): State =>
  Object.fromEntries(
    Object.entries(state)
      .filter((entry): entry is [string, string] => entry[1] !== undefined)
      .sort(),
  );

const text = fc.constantFrom('x', 'y');
const place = fc.nat({ max: addresses.length - 1 });
const status = fc.option(fc.constantFrom('active' as const, 'archived' as const, 'unsubscribed' as const), {
  nil: undefined,
});
interface Row {
  readonly place: number;
  readonly name?: string | undefined;
  readonly tags: string[];
  readonly attribute?: string | undefined;
  readonly withID: boolean;
  readonly status?: ContactStatus | undefined;
}

const row: fc.Arbitrary<Row> = fc.record({
  place,
  name: fc.option(text, { nil: undefined }),
  tags: fc.subarray(['a', 'b']),
  attribute: fc.option(text, { nil: undefined }),
  withID: fc.boolean(),
  status,
});
const edit = fc.record({
  place,
  name: fc.option(fc.option(text), { nil: undefined }),
  addedTags: fc.subarray(['a']),
  removedTags: fc.subarray(['b']),
  attribute: fc.option(fc.option(text), { nil: undefined }),
  status,
});

/** A file with two rows for one contact, which had no name before. */
const twoNamesForOneContact: [Row[], Row[], never[]] = [
  [{ place: 2, tags: [], withID: false }],
  [
    { place: 2, name: 'x', tags: [], withID: false },
    { place: 2, name: 'y', tags: [], withID: false },
  ],
  [],
];

/** A file that swaps three contacts' addresses by way of a fourth address. */
const cycle = [
  { nth: 0, to: 3 },
  { nth: 1, to: 0 },
  { nth: 2, to: 1 },
  { nth: 0, to: 2 },
];

export const describeImportedContacts = (newSite: NewSite): void => {
  describe('a contact import', () => {
    test('creates and changes contacts, and changes nothing the second time', async () => {
      const site = await newSite();
      const { create, contact, add, read } = importsOf(site);
      await site.server.createContact({
        address: ben,
        userUUID: null,
        fields: { contactFirstname: 'Ben' },
        tags: ['b'],
      });
      const steps = [
        contact({ address: ann, externalID: 'u-1', fields: { contactFirstname: 'Ann' }, tags: ['a'] }, 'unsubscribed'),
        contact({ address: ben, fields: { contactFirstname: 'Benjamin' }, attributes: [['plan', 'pro']] }),
      ];
      expect(await add(await create(), 0, ...steps)).toEqual([
        { kept: true, created: true },
        { kept: true, created: false },
      ]);
      expect(await read(ann)).toEqual({
        contactExternalID: 'u-1',
        contactFirstname: 'Ann',
        contactProfileID: 'customer',
        contactStatus: 'unsubscribed',
        'tag a': 'true',
      });
      expect(await read(ben)).toEqual({
        'attr plan': 'pro',
        contactFirstname: 'Benjamin',
        contactStatus: 'active',
        'tag b': 'true',
      });
      const unchanged = { kept: false, duplicate: true };
      expect(await add(await create(), 0, ...steps)).toEqual([unchanged, unchanged]);
    });

    test('refuses a row whose external ID belongs to another person, and stores the others', async () => {
      const site = await newSite();
      const { create, contact, add, read } = importsOf(site);
      const importID = await create();
      const outcomes = await add(
        importID,
        0,
        contact({ address: ann, externalID: 'u-1' }),
        contact({ address: ann, externalID: 'u-2' }),
        contact({ address: ben }),
      );
      expect(outcomes).toMatchObject([{ kept: true }, { refused: 'external_id_taken' }, { kept: true }]);
      expect(await read(ben)).toBeDefined();
      const { store, account, time } = site;
      const [listed] = await store.listImports({ account, limit: 1 });
      expect(listed).toMatchObject({ position: 3, imported: 2, repeated: 0, refused: 1 });
      const other = await newSite();
      await expectRefusal(importsOf(other).add(importID, 3, contact({})), 'unknown_import');
      await expectRefusal(other.store.undoImport({ account: other.account, importID, time }), 'unknown_import');
    });

    test('returns the same outcomes as a preview, which stores nothing', async () => {
      const site = await newSite();
      const { create, contact, add, preview, read } = importsOf(site);
      await site.server.createContact({ address: ben, userUUID: null, externalID: 'u-2' });
      const steps = [
        contact({ address: ann, externalID: 'u-1', tags: ['new'], attributes: [['new', '1']] }),
        contact({ address: ann, externalID: 'u-2' }),
        contact({ address: ben, fields: { contactFirstname: 'Ben' } }),
        contact({ address: ben, fields: { contactFirstname: 'Ben' } }),
      ];
      const { store, account } = site;
      const catalogue = () => store.listCatalogue({ account, kind: 'tag' });
      const before = [await read(ann), await read(ben), await catalogue()];
      const outcomes = await preview(...steps);
      expect(outcomes).toMatchObject([
        { created: true },
        { refused: 'email_taken' },
        { created: false },
        { duplicate: true },
      ]);
      expect([await read(ann), await read(ben), await catalogue()]).toEqual(before);
      expect(await add(await create(), 0, ...steps)).toEqual(outcomes);
      expect(await catalogue()).toHaveLength(1);
    });

    test('does not change a contact that replaces an erased one', async () => {
      const site = await newSite();
      const { create, contact, add, undo, read } = importsOf(site);
      const { contactUUID } = await site.server.createContact({ address: ann, userUUID: null });
      const importID = await create();
      await add(importID, 0, contact({ address: ann, fields: { contactFirstname: 'Ann' } }));
      await site.erase(contactUUID);
      await site.server.createContact({ address: ann, userUUID: null, fields: { contactFirstname: 'Another' } });
      await undo(importID);
      expect(await read(ann)).toMatchObject({ contactFirstname: 'Another' });
    });

    test('restores all values when undone, except keys that other contacts now have, and merges no contacts', async () => {
      const site = await newSite();
      const { create, contact, add, undo, read } = importsOf(site);
      const { store, account, time, server, browser } = site;
      const fields = { contactFirstname: 'Ann' };
      const { contactUUID } = await server.createContact({ address: ann, externalID: 'u-1', userUUID: null, fields });
      await server.createContact({ address: ben, externalID: 'u-2', userUUID: null, fields });
      const importID = await create();
      const imported = { contactFirstname: 'Imported' };
      await add(
        importID,
        0,
        contact({ address: 'new@example.com', externalID: 'u-1', fields: imported }),
        contact({ address: 'newer@example.com', externalID: 'u-2', fields: imported }),
      );
      const other = await server.createContact({ address: ann, userUUID: null });
      // Creates a contact from a page, whose address a server token could take over.
      await browser.createContact({ address: ben, userUUID: phone });
      await store.updateContact({ account, ...contactChange({ contactUUID, externalID: 'u-3' }), time });
      await undo(importID);
      expect(await read('new@example.com')).toMatchObject({ contactFirstname: 'Ann', contactExternalID: 'u-3' });
      expect(await read('newer@example.com')).toMatchObject({ contactFirstname: 'Ann', contactExternalID: 'u-2' });
      expect(await read(ann)).toEqual({ contactStatus: 'active' });
      expect(await read(ben)).toBeDefined();
      const named = { account, token: server.token, browser: false, address: ann, include: [] };
      expect((await store.getContact(named)).contactUUID).toBe(other.contactUUID);
      expect(await store.listMergedContacts({ account })).toEqual([]);
    });

    test('takes no key from another contact when undone, no matter how that contact got it', async () => {
      const nth = fc.nat({ max: 2 });
      const rows = fc.array(fc.record({ nth, address: nth }), { minLength: 1, maxLength: 4 });
      const takers = fc.array(fc.record({ by: fc.constantFrom('server', 'page', 'contact'), nth, address: nth }), {
        maxLength: 4,
      });
      await fc.assert(
        fc.asyncProperty(rows, takers, fc.boolean(), async (imported, taken, clears) => {
          const site = await newSite();
          const { create, contact, add, undo } = importsOf(site);
          const { store, account, time, server, browser } = site;
          const old = (at: number) => addresses[at] as string;
          const fields = { contactFirstname: 'Ann' };
          const contactUUIDs: string[] = [];
          for (const at of [0, 1, 2]) {
            const keys = { externalID: `u-${at}`, ...(at > 0 && { address: old(at) }) };
            contactUUIDs.push((await server.createContact({ ...keys, userUUID: null, fields })).contactUUID);
          }
          const importID = await create();
          const toStep = (row: { nth: number; address: number }) =>
            contact({
              ...{ externalID: `u-${row.nth}`, address: `${row.address}@new.example` },
              fields: { contactFirstname: 'Imported' },
            });
          await add(importID, 0, ...imported.map(toStep));
          for (const { by, nth: at, address } of taken) {
            const update = { contactUUID: contactUUIDs[at] as string, address: old(address) };
            if (by === 'server') await server.createContact({ address: old(address), userUUID: null });
            else if (by === 'page') await browser.createContact({ address: old(address), userUUID: phone });
            // Another contact might have the address.
            else await store.updateContact({ account, ...contactChange(update), time }).catch(() => undefined);
          }
          if (clears) {
            const update = { contactUUID: contactUUIDs[2] as string, externalID: null };
            await store.updateContact({ account, ...contactChange(update), time });
          }
          const find = async (key: object) => {
            const caller = { account, token: server.token, browser: false };
            const query = { ...caller, ...key, include: [] };
            return (await store.getContact(query).catch(() => undefined))?.contactUUID;
          };
          const keys = [0, 1, 2].flatMap((at) => [
            ...[{ address: old(at) }, { address: `${at}@new.example` }, { externalID: `u-${at}` }],
          ]);
          const before = await Promise.all(keys.map(find));
          const merged = await store.listMergedContacts({ account });
          await undo(importID);
          const after = await Promise.all(keys.map(find));
          for (const [place, holder] of before.entries())
            if (holder !== undefined && !contactUUIDs.includes(holder)) expect(after[place]).toBe(holder);
          expect(await store.listMergedContacts({ account })).toEqual(merged);
          for (const contactUUID of contactUUIDs)
            expect((await server.getContact(contactUUID)).fields.contactFirstname).toBe('Ann');
        }),
        { numRuns: Number(process.env.RUNS ?? 8) },
      );
    });

    test('removes the keys that it added to a contact when undone', async () => {
      const site = await newSite();
      const { create, contact, add, undo, read } = importsOf(site);
      const { contactUUID } = await site.server.createContact({
        address: undefined,
        externalID: 'u-1',
        userUUID: null,
      });
      const importID = await create();
      await add(importID, 0, contact({ address: ann, externalID: 'u-1' }));
      await undo(importID);
      expect(await read(ann)).toBeUndefined();
      expect((await site.server.getContact(contactUUID)).fields.contactEmailaddress ?? '').toBe('');
    });

    test('returns addresses to their previous contacts when undone, even if it swapped them', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ nth: fc.nat({ max: 2 }), to: fc.nat({ max: 4 }) }), { minLength: 1, maxLength: 8 }),
          async (moves) => {
            const site = await newSite();
            const { create, contact, add, undo } = importsOf(site);
            const addressOf = (at: number) => `${at}@example.com`;
            for (const at of [0, 1, 2])
              await site.server.createContact({ address: addressOf(at), externalID: `u-${at}`, userUUID: null });
            const holders = async () => {
              const { contacts } = await site.store.searchContact({ account: site.account, limit: 10 });
              return contacts
                .map(({ fields }) => [fields.contactExternalID, fields.contactEmailaddress])
                .sort(([a = ''], [b = '']) => a.localeCompare(b));
            };
            const before = await holders();
            const importID = await create();
            await add(
              importID,
              0,
              ...moves.map(({ nth, to }) => contact({ externalID: `u-${nth}`, address: addressOf(to) })),
            );
            await undo(importID);
            expect(await holders()).toEqual(before);
          },
        ),
        { numRuns: Number(process.env.RUNS ?? 8), examples: [[cycle]] },
      );
    });

    test('does not restore a key of a contact that was erased', async () => {
      const site = await newSite();
      const { create, contact, add, undo, read } = importsOf(site);
      const keys = { address: ann, externalID: 'u-1' };
      await site.server.createContact({ ...keys, userUUID: null });
      const importID = await create();
      await add(importID, 0, contact({ address: ben, externalID: 'u-1', fields: { contactFirstname: 'Ben' } }));
      const successor = await site.server.createContact({ address: ann, userUUID: null });
      await site.erase(successor.contactUUID);
      await undo(importID);
      expect(await read(ann)).toBeUndefined();
      expect(await read(ben)).toEqual({ contactStatus: 'active', contactExternalID: 'u-1' });
    });

    test('restores the contact that it changed when undone, even if a page had claimed the external ID', async () => {
      const site = await newSite();
      const { create, contact, add, undo } = importsOf(site);
      await site.browser.createContact({ address: undefined, externalID: 'u-1', userUUID: phone });
      const fields = { contactFirstname: 'Ann', contactLastname: 'Lee' };
      const { contactUUID } = await site.server.createContact({ address: ann, userUUID: null, fields });
      const importID = await create();
      await add(importID, 0, contact({ address: ann, externalID: 'u-1', fields: { contactFirstname: 'Anna' } }));
      await undo(importID);
      const restored = await site.server.getContact(contactUUID);
      expect(restored.fields).toMatchObject({ ...fields, contactEmailaddress: ann, contactExternalID: '' });
    });

    test('sends webhooks the values that an undo restores, with the time of the undo', async () => {
      const site = await newSite();
      const { create, contact, add, undo } = importsOf(site);
      const { store, account, time, server } = site;
      const fields = { contactFirstname: 'Ann' };
      const { contactUUID } = await server.createContact({ address: ann, userUUID: null, fields });
      const importID = await create();
      await add(importID, 0, contact({ address: ann, fields: { contactFirstname: 'Imported' } }));
      const types = ['contact.updated'] as const;
      const settings = { url: 'https://crm.example/', description: '', types, filter: {}, payload: 'thin' } as const;
      await store.createWebhook({ ...settings, account, webhookID: newID('webhook'), sentThrough: 0, time });
      await undo(importID, time + 1_000);
      const all = { account, after: 0, through: Number.MAX_SAFE_INTEGER, limit: 10, recognized: false };
      expect((await store.listFacts(all)).facts).toMatchObject([
        { type: 'contact.updated', contactUUID, time: time + 1_000, detail: { updated: ['contactFirstname'] } },
      ]);
    });

    test('lets a retried request create its contact again after the undo', async () => {
      const site = await newSite();
      const { create, contact, add, undo } = importsOf(site);
      const importID = await create();
      await add(importID, 0, contact({ address: ann }));
      const request = { address: ann, userUUID: null, requestUUID: 'request-01' };
      expect(await site.server.createContact(request)).toMatchObject({ exists: true });
      await undo(importID);
      expect(await site.server.createContact(request)).toMatchObject({ exists: false });
    });

    test('restores the values that are still the imported ones when undone, whatever changed in between', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 3 }),
          fc.array(row, { minLength: 1, maxLength: 4 }),
          fc.array(edit, { maxLength: 4 }),
          async (existing, rows, edits) => {
            const site = await newSite();
            const { create, contact, add, undo, read } = importsOf(site);
            const stepOf = ({ place: nth, name, tags, attribute, withID, status: given }: Row) =>
              contact(
                {
                  address: addresses[nth] as string,
                  ...(withID && { externalID: `u-${nth}` }),
                  fields: name === undefined ? {} : { contactFirstname: name },
                  tags,
                  attributes: attribute === undefined ? [] : [['plan', attribute]],
                },
                given,
              );
            const readAll = () => Promise.all(addresses.map(read));
            await add(await create(), 0, ...existing.map(stepOf));
            const before = await readAll();
            const importID = await create();
            await add(importID, 0, ...rows.map(stepOf));
            const imported = await readAll();
            const touched = new Set<number>();
            for (const [nth, change] of edits.entries()) {
              const address = addresses[change.place] as string;
              const earlier = await read(address);
              if (earlier === undefined) continue;
              const fields = change.name === undefined ? {} : { contactFirstname: change.name };
              const attributes: ContactChange['attributes'] =
                change.attribute === undefined ? [] : [['plan', change.attribute]];
              const { addedTags, removedTags, status: contactStatus } = change;
              await site.store.updateContact({
                account: site.account,
                ...contactChange({ address, fields, addedTags, removedTags, attributes, contactStatus }),
                time: site.time + nth + 1,
              });
              if (JSON.stringify(await read(address)) !== JSON.stringify(earlier)) touched.add(change.place);
            }
            const edited = await readAll();
            const { kept } = await undo(importID);
            const expected = addresses.map((_, nth) => {
              const [was, after, now] = [before[nth], imported[nth], edited[nth]];
              if (was === undefined) return touched.has(nth) ? now : undefined;
              const names = [...new Set([...Object.keys(now ?? {}), ...Object.keys(was)])];
              const restore = (name: string) => (now?.[name] === after?.[name] ? was[name] : now?.[name]);
              return sorted(Object.fromEntries(names.map((name) => [name, restore(name)])));
            });
            expect(await readAll()).toEqual(expected);
            const created = addresses.filter((_, nth) => before[nth] === undefined && imported[nth] !== undefined);
            expect(kept).toBe(created.filter((address) => touched.has(addresses.indexOf(address))).length);
          },
        ),
        { numRuns: Number(process.env.RUNS ?? 8), examples: [twoNamesForOneContact] },
      );
    });
  });
};
