import { describe, expect, test, vi } from 'vitest';
import type { Import, ImportBatch, ImportStep, NewContact, NewEvent } from '../../src/store/store.ts';
import { createFedAccount, expectAgreement } from '../fixtures/reports/fed-account.ts';
import type { Site } from '../fixtures/site.ts';
import {
  ann,
  ben,
  cleo,
  day,
  expectRefusal,
  hashText,
  laptop,
  newContact,
  newEvent,
  newID,
  phone,
  tablet,
} from '../fixtures/store.ts';
import { soon } from '../fixtures/timeouts.ts';
import type { NewSite } from './sites.ts';

const years = 365 * day;

/** Returns helpers that import into a site. */
export const createImportHelpers = (site: Site) => {
  const { store, account, time, server } = site;
  const caller = { account, token: server.token, browser: false };
  const create = (file: string, at = time) =>
    store.createImport({
      ...{
        account,
        importID: newID('import'),
        kind: 'events',
        importName: file,
        fingerprint: hashText(file),
        time: at,
      },
    });
  const event = (changes: Partial<NewEvent>): ImportStep => ({
    event: newEvent({ eventTime: time - 2 * years, ...changes }),
  });
  const contact = (changes: Partial<NewContact>): ImportStep => ({
    contact: { ...newContact({ time, ...changes }), ...caller, verified: true },
  });
  const add = (importID: string, position: number, steps: readonly ImportStep[], changes: Partial<ImportBatch> = {}) =>
    store.addToImport({
      ...{ ...caller, importID, kind: 'events', position, records: steps.length, isLast: false, receivedTime: time },
      ...{ defaultProfileID: 'customer', replaces: false, steps, ...changes },
    });
  const undo = async (importID: string): Promise<Import> => {
    await store.undoImport({ account, importID, time });
    return vi.waitFor(
      async () => {
        const undone = await store.undoImport({ account, importID, time: time + 1 });
        expect(undone.state).toBe('undone');
        return undone;
      },
      { ...soon, interval: 20 },
    );
  };
  /** Returns the content of exports: events with their owners, and contacts with their links. */
  const readAll = async () => {
    const { contacts } = await store.searchContact({ account, limit: 1_000 });
    return {
      events: await site.events(),
      definitions: await store.getEventDefinitions(account),
      contacts: await Promise.all(
        contacts.map(async ({ contactUUID }) => {
          const { tags, ...contact } = await server.getContact(contactUUID, 'claim', 'link', 'merge');
          return { ...contact, tags: tags.filter(({ opt }) => opt) };
        }),
      ),
    };
  };
  return { create, event, contact, add, undo, readAll };
};

export const describeImports = (newSite: NewSite): void => {
  describe('an import', () => {
    test('stores old events with their own times, and accepts each position only once', async () => {
      const site = await newSite();
      const { create, event, add } = createImportHelpers(site);
      const { importID, position, state } = await create('a.jsonl');
      expect({ position, state }).toEqual({ position: 0, state: 'running' });
      const steps = [event({ eventUUID: 'event-01' }), event({ eventUUID: 'event-02' })];
      const first = await add(importID, 0, steps, { records: 3 });
      expect(first.outcomes).toEqual([{ kept: true }, { kept: true }]);
      expect(first.import).toMatchObject({ position: 3, imported: 2, repeated: 0, refused: 1, state: 'running' });
      expect(await add(importID, 0, steps, { records: 3 })).toEqual({ import: first.import, outcomes: null });
      expect(await add(importID, 5, steps)).toEqual({ import: first.import, outcomes: null });
      const last = await add(importID, 3, [event({ eventUUID: 'event-02' }), event({ eventUUID: 'event-03' })], {
        isLast: true,
      });
      expect(last.outcomes).toEqual([{ kept: false, duplicate: true }, { kept: true }]);
      expect(last.import).toMatchObject({ position: 5, imported: 3, repeated: 1, refused: 1, state: 'complete' });
      const events = await site.events();
      expect(events.map(({ eventUUID }) => eventUUID)).toEqual(['event-01', 'event-02', 'event-03']);
      expect(new Set(events.map(({ eventTime }) => eventTime))).toEqual(new Set([site.time - 2 * years]));
    });

    test('is the same import for the same file, until it is undone', async () => {
      const site = await newSite();
      const { create, event, add, undo } = createImportHelpers(site);
      const { importID } = await create('a.jsonl');
      await add(importID, 0, [event({ eventUUID: 'event-01' })], { isLast: true });
      // Repeats the request, as a client does that received no response to an empty last batch.
      expect(await add(importID, 1, [], { isLast: true })).toMatchObject({ outcomes: null });
      const again = await create('a.jsonl', site.time + 5);
      expect(again).toMatchObject({ importID, position: 1, state: 'complete', createdTime: site.time });
      expect((await create('b.jsonl', site.time + 5)).importID).not.toBe(importID);
      expect(await undo(importID)).toMatchObject({ imported: 1, undoneTime: site.time });
      const second = await create('a.jsonl', site.time + 6);
      expect(second).toMatchObject({ position: 0, state: 'running' });
      expect((await add(second.importID, 0, [event({ eventUUID: 'event-01' })])).outcomes).toEqual([{ kept: true }]);
      const listed = await site.store.listImports({ account: site.account, limit: 2 });
      const beyond = { createdTime: site.time + 6, skip: 1 };
      expect(await site.store.listImports({ account: site.account, limit: 2, beyond })).toMatchObject([
        { importID: listed[1]?.importID },
        { importID, state: 'undone' },
      ]);
      expect(listed.map(({ importID, state }) => [importID, state])).toEqual([
        [second.importID, 'running'],
        [expect.any(String), 'running'],
      ]);
    });

    test('is rejected in another account, for another kind, when it is complete, and when it is undone', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const { create, event, add, undo } = createImportHelpers(site);
      const { importID } = await create('a.jsonl');
      const steps = [event({})];
      await expectRefusal(createImportHelpers(other).add(importID, 0, steps), 'unknown_import', 'importID');
      const { store, account, time } = other;
      await expectRefusal(store.undoImport({ account, importID, time }), 'unknown_import', 'importID');
      expect(await store.listImports({ account, limit: 10 })).toEqual([]);
      await expectRefusal(add(importID, 0, steps, { kind: 'contacts' }), 'invalid_field', 'importID');
      await add(importID, 0, steps, { isLast: true });
      await expectRefusal(add(importID, 1, steps), 'invalid_field', 'position');
      await undo(importID);
      await expectRefusal(add(importID, 1, steps), 'import_undone', 'importID');
      expect(await site.events()).toEqual([]);
    });

    test('stores the users of contacts and events, even in the first write of a day', async () => {
      const site = await newSite();
      const { create, event, contact, add } = createImportHelpers(site);
      const { importID } = await create('a.jsonl');
      await add(importID, 0, [
        contact({ address: ben, userUUID: tablet }),
        contact({ address: ben, userUUID: tablet, fields: { contactFirstname: 'Ben' } }),
        event({ userUUID: tablet, eventUUID: 'event-01' }),
      ]);
      await site.server.log({ userUUID: tablet, eventUUID: 'event-02' });
      const events = await site.events({ userUUID: tablet });
      expect(events.map(({ eventUUID }) => eventUUID)).toEqual(['event-01', 'event-02']);
      expect(new Set(Object.values(await site.owners())).size).toBe(1);
    });

    test('stores a merged contact’s event with that contact, not with the one that it was merged into', async () => {
      const site = await newSite();
      const { contactUUID } = await site.server.createContact({ address: ann, userUUID: null });
      const other = await site.server.createContact({ address: ben, userUUID: null });
      await site.merge(contactUUID, other.contactUUID);
      const { create, event, contact, add } = createImportHelpers(site);
      const { importID } = await create('a.jsonl');
      await add(importID, 0, [
        { ...event({ userUUID: null, eventUUID: 'event-01' }), ...contact({ address: ben, userUUID: null }) },
      ]);
      expect(await site.owners()).toEqual({ 'event-01': contactUUID });
      await site.unmerge(other.contactUUID);
      expect(await site.owners()).toEqual({ 'event-01': other.contactUUID });
    });

    test('creates contacts and links, and the contact that an event refers to', async () => {
      const site = await newSite();
      const { create, event, contact, add } = createImportHelpers(site);
      const { importID } = await create('a.jsonl');
      const named = contact({ userUUID: null, address: undefined, externalID: 'u-2' });
      const { outcomes } = await add(importID, 0, [
        event({ eventUUID: 'anonymous' }),
        contact({ externalID: 'u-1', fields: { contactFirstname: 'Ann' }, attributes: [['plan', 'pro']] }),
        contact({ userUUID: phone, externalID: 'u-9', address: ann }),
        { ...named, ...event({ eventUUID: 'of-a-name', userUUID: null, externalID: 'u-2' }) },
        event({ eventUUID: 'of-a-name-again', userUUID: null, externalID: 'u-2' }),
        event({ eventUUID: 'of-nobody', userUUID: null, externalID: 'u-3' }),
      ]);
      expect(outcomes?.map((outcome) => ('refused' in outcome ? outcome.refused : 'kept' in outcome))).toEqual([
        ...[true, true, 'external_id_taken', true, true],
        'unknown_contact',
      ]);
      const owners = await site.owners();
      expect(owners['of-a-name']).toBe(named.contact?.newContactUUID);
      expect(owners['of-a-name-again']).toBe(named.contact?.newContactUUID);
      expect(await site.server.getContact(owners.anonymous as string)).toMatchObject({
        fields: { contactFirstname: 'Ann', contactProfileID: 'customer', contactExternalID: 'u-1' },
        attributes: [['plan', 'pro']],
      });
    });

    test('assigns an event to the contact with its address, even if that contact was merged into another', async () => {
      const site = await newSite();
      const { create, event, contact, add } = createImportHelpers(site);
      const { contactUUID } = await site.server.createContact({ address: ann, userUUID: null });
      const other = await site.server.createContact({ address: 'ann@work.example', userUUID: null });
      await site.merge(contactUUID, other.contactUUID);
      const named = (eventUUID: string, address: string) => ({
        ...contact({ userUUID: null, address }),
        ...event({ eventUUID, userUUID: null }),
      });
      const { importID } = await create('a.jsonl');
      const first = named('event-01', 'new@example.com');
      const { outcomes } = await add(importID, 0, [
        ...[first, named('event-02', ann), named('event-03', 'new@example.com'), named('event-04', 'ann@work.example')],
      ]);
      expect(outcomes).toEqual([1, 2, 3, 4].map(() => ({ kept: true })));
      const newUUID = first.contact?.newContactUUID;
      expect(await site.owners()).toEqual({
        ...{ 'event-01': newUUID, 'event-02': contactUUID, 'event-03': newUUID, 'event-04': contactUUID },
      });
    });

    test('updates contacts that imports created, and only fills empty fields of others', async () => {
      const site = await newSite();
      const { create, contact, add } = createImportHelpers(site);
      const { contactUUID } = await site.server.createContact({
        fields: { contactFirstname: 'Ann' },
        attributes: [['plan', 'pro']],
      });
      const [first, second] = [await create('a.jsonl'), await create('b.jsonl')];
      const values = {
        userUUID: null,
        attributes: [
          ['plan', 'free'],
          ['city', 'Rome'],
        ],
      } as const;
      await add(first.importID, 0, [
        contact({ ...values, fields: { contactFirstname: 'A', contactLastname: 'Lee' } }),
        contact({ ...values, address: ben, fields: { contactFirstname: 'B' } }),
      ]);
      await add(second.importID, 0, [contact({ userUUID: null, address: ben, fields: { contactFirstname: 'Ben' } })]);
      expect(await site.server.getContact(contactUUID)).toMatchObject({
        fields: { contactFirstname: 'Ann', contactLastname: 'Lee' },
        attributes: [
          ['city', 'Rome'],
          ['plan', 'pro'],
        ],
      });
      const { contacts } = await site.store.searchContact({ account: site.account, address: ben, limit: 1 });
      expect(contacts).toMatchObject([{ fields: { contactFirstname: 'Ben' } }]);
    });
  });

  describe('an undone import', () => {
    test('leaves everything else as it was before', async () => {
      const site = await newSite();
      const { server } = site;
      const { create, event, contact, add, undo, readAll } = createImportHelpers(site);
      await server.createContact({ externalID: 'u-1', fields: { contactFirstname: 'Ann' }, tags: ['vip'] });
      await server.createContact({ userUUID: null, address: cleo });
      await server.log({ eventUUID: 'before-01', userUUID: phone }, { eventUUID: 'before-02', userUUID: laptop });
      const before = await readAll();
      const { importID } = await create('a.jsonl');
      await add(importID, 0, [
        event({ eventUUID: 'imported-1', userUUID: phone, eventID: 7 }),
        event({ eventUUID: 'imported-2', userUUID: tablet }),
        event({ eventUUID: 'imported-3', userUUID: null, externalID: 'u-1' }),
        contact({ userUUID: phone, address: ben, fields: { contactFirstname: 'Ben' }, tags: ['new'] }),
        contact({ userUUID: tablet, externalID: 'u-1', address: undefined, fields: { contactLastname: 'Lee' } }),
        contact({ userUUID: null, address: cleo, externalID: 'u-3', attributes: [['plan', 'pro']] }),
      ]);
      await add(importID, 6, [event({ eventUUID: 'imported-4', userUUID: phone })], { isLast: true });
      expect((await readAll()).events.map(({ eventUUID }) => eventUUID)).toHaveLength(6);
      expect(await undo(importID)).toMatchObject({ kept: 0, imported: 7 });
      expect(await readAll()).toEqual(before);
    });

    test('leaves data stored in the meantime untouched', async () => {
      const site = await newSite();
      const { server } = site;
      const { create, event, contact, add, undo } = createImportHelpers(site);
      const { importID } = await create('a.jsonl');
      for (let nth = 0; nth < 5; nth += 1) {
        await add(importID, nth, [event({ eventUUID: `imported-${nth}` })]);
        await server.log({ eventUUID: `between-${nth}` });
      }
      await add(importID, 5, [
        contact({ userUUID: phone, address: ann }),
        contact({ userUUID: null, address: ben }),
        contact({ userUUID: null, address: cleo }),
      ]);
      await site.store.updateContact({
        ...{ account: site.account, address: ben, addedTags: [], removedTags: [], attributes: [], time: site.time + 1 },
        fields: { contactFirstname: 'Ben' },
      });
      await server.createContact({ userUUID: tablet, address: cleo });
      await server.log({ eventUUID: 'of-phone', userUUID: phone });
      expect(await undo(importID)).toMatchObject({ kept: 2 });
      expect(Object.keys(await site.owners())).toEqual([
        ...['between-0', 'between-1', 'between-2', 'between-3', 'between-4', 'of-phone'],
      ]);
      expect((await site.owners())['of-phone']).toBe('');
      const { contacts } = await site.store.searchContact({ account: site.account, limit: 10 });
      expect(contacts.map(({ fields }) => fields.contactEmailaddress).sort()).toEqual([ben, cleo]);
      await site.server.createContact({ address: ann });
    });

    test('restores a value only if it is still the imported one', async () => {
      const site = await newSite();
      const { create, contact, add, undo } = createImportHelpers(site);
      const { contactUUID } = await site.server.createContact({
        userUUID: null,
        fields: { contactFirstname: 'Ann', contactLastname: 'Lee' },
        attributes: [['plan', 'pro']],
      });
      const { importID } = await create('a.jsonl');
      const fields = { contactFirstname: 'Anna', contactLastname: 'Li', contactTitle: 'Dr' };
      const changed = contact({
        userUUID: null,
        fields,
        tags: ['vip'],
        attributes: [
          ['plan', 'free'],
          ['city', 'Rome'],
        ],
      });
      await add(importID, 0, [changed], { replaces: true });
      await site.update({ contactUUID, fields: { contactLastname: 'Lie' }, time: site.time + 1 });
      await undo(importID);
      const restored = await site.server.getContact(contactUUID);
      expect(restored.fields).toMatchObject({ contactFirstname: 'Ann', contactLastname: 'Lie', contactTitle: '' });
      expect(restored.tags.filter(({ opt }) => opt)).toEqual([]);
      expect(restored.attributes).toEqual([['plan', 'pro']]);
    });

    test('removes its events from the report feed', async () => {
      const site = await newSite();
      const { create, event, contact, add, undo } = createImportHelpers(site);
      const fed = createFedAccount(site.store, site.account);
      await site.server.log({ userUUID: laptop });
      const { importID } = await create('a.jsonl');
      await add(importID, 0, [event({ userUUID: laptop }), event({ userUUID: phone }), contact({ userUUID: laptop })]);
      await expectAgreement(fed, site);
      expect(await fed.read()).toHaveLength(3);
      await site.store.undoImport({ account: site.account, importID, time: site.time });
      expect(await fed.read()).toHaveLength(1);
      await undo(importID);
      await expectAgreement(fed, site);
    });
  });
};
