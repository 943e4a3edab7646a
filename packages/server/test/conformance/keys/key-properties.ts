/**
 * Tests properties of external IDs and addresses: contacts follow a simple model, and pages learn nothing about keys.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/shared/refusal.ts';
import { runs } from '../../fixtures/runs.ts';
import type { Site } from '../../fixtures/site.ts';
import { newID } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const externalIDs = ['customer-1', 'customer-2', 'customer-3'];
const addresses = ['ann@example.com', 'ben@example.com', 'cleo@example.com'];

const externalID = fc.constantFrom(...externalIDs);
const address = fc.constantFrom(...addresses);
/** Selects the nth newest contact. */
const nth = fc.nat({ max: 4 });

const keys = fc.oneof(fc.record({ externalID }), fc.record({ address }), fc.record({ externalID, address }));
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('create'), keys }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('update'),
      nth,
      keys: fc.record({ externalID: fc.option(externalID), address }, { requiredKeys: [] }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('merge'), nth, other: nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unmerge'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase'), nth }) },
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;
interface Keys {
  readonly externalID?: string | null | undefined;
  readonly address?: string | undefined;
}

/** A contact in the model. A key is null until it is set, and '' once it is cleared. */
interface Person {
  readonly contactUUID: string;
  externalID: string | null;
  address: string | null;
  into: Person | null;
}

const keyNames = ['address', 'externalID'] as const;
const takenCodes = { externalID: 'external_id_taken', address: 'email_taken' };

/** A simple model of the rules for keys from server tokens. Its methods return an error code or a contactUUID. */
const createModel = () => {
  let people: Person[] = [];
  const rootOf = (person: Person): Person => (person.into === null ? person : rootOf(person.into));
  const groupOf = (person: Person) => {
    const root = rootOf(person);
    return [root, ...people.filter((other) => other !== root && rootOf(other) === root)];
  };
  const keyOf = (person: Person, name: 'externalID' | 'address') =>
    groupOf(person).find((one) => one[name] !== null)?.[name] ?? '';
  const holderOf = (name: 'externalID' | 'address', value: string) => people.find((one) => one[name] === value);

  /**
   * Writes keys to a person. `isMatch` is true if a key identified the person: that key can be on a merged record, and
   * then stays there.
   */
  const write = (person: Person, input: Keys, isMatch: boolean): string => {
    const root = rootOf(person);
    const present = keyOf(root, 'externalID');
    if (isMatch && input.externalID && present && present !== input.externalID) return 'external_id_taken';
    const values = keyNames.flatMap((name) => (input[name] ? [{ name, value: input[name] }] : []));
    const others = values.map(({ name, value }) => ({ name, value, holder: holderOf(name, value) ?? root }));
    for (const { name, holder } of others) {
      if (holder !== root && !(isMatch && rootOf(holder) === root)) return takenCodes[name];
    }
    for (const { name, value, holder } of others) if (holder === root) root[name] = value;
    if (input.externalID === null) root.externalID = '';
    return root.contactUUID;
  };

  return {
    responseOf: (person: Person) => ({
      contactUUID: rootOf(person).contactUUID,
      externalID: keyOf(person, 'externalID'),
      address: keyOf(person, 'address'),
    }),
    holderOf,
    newest: (nth: number): Person | undefined => people.at(-1 - nth),
    all: () => people,
    create(input: { externalID?: string; address?: string }, newContactUUID: string): string {
      const byID = input.externalID === undefined ? undefined : holderOf('externalID', input.externalID);
      const match = byID ?? (input.address === undefined ? undefined : holderOf('address', input.address));
      if (match) return write(match, byID ? { address: input.address } : { externalID: input.externalID }, true);
      const { externalID = null, address = null } = input;
      people.push({ contactUUID: newContactUUID, externalID, address, into: null });
      return newContactUUID;
    },
    update: (person: Person, input: Keys) => write(person, input, false),
    merge(keep: Person, other: Person): void {
      other.into = keep;
    },
    unmerge(person: Person): void {
      person.into = null;
    },
    erase(person: Person): void {
      const erased = groupOf(person);
      people = people.filter((one) => !erased.includes(one));
    },
  };
};

const codeOf = (error: unknown): string => {
  if (error instanceof Refusal) return error.code;
  throw error;
};

/** Applies an action to the store and to the model. */
const applyAction = async (site: Site, model: ReturnType<typeof createModel>, one: Action): Promise<void> => {
  if (one.do === 'create') {
    const newContactUUID = newID('contact');
    const request = { userUUID: null, address: undefined, externalID: undefined, ...one.keys, newContactUUID };
    const response = await site.server.createContact(request).then(({ contactUUID }) => contactUUID, codeOf);
    expect(response).toBe(model.create(one.keys, newContactUUID));
    return;
  }
  const person = model.newest(one.nth);
  if (!person) return;
  const { contactUUID } = person;
  if (one.do === 'update') {
    const response = await site.update({ contactUUID, ...one.keys }).then((updated) => updated.contactUUID, codeOf);
    expect(response).toBe(model.update(person, one.keys));
  } else if (one.do === 'merge') {
    const other = model.newest(one.other);
    if (other) await site.merge(contactUUID, other.contactUUID).then(() => model.merge(person, other), codeOf);
  } else if (one.do === 'unmerge') {
    await site.unmerge(contactUUID).then(() => model.unmerge(person), codeOf);
  } else {
    await site.erase(contactUUID);
    model.erase(person);
  }
};

const pair = fc.nat({ max: 2 });
const pageUsers = ['visitor-of-a-page-1', 'visitor-of-a-page-2'];
const pageAction = fc.record({
  do: fc.constant('claim'),
  user: fc.constantFrom(...pageUsers),
  keys: fc.oneof(fc.record({ externalID }), fc.record({ address }), fc.record({ externalID, address })),
});
/**
 * A server's request about one of three people, each with an address and an external ID, and the user that it links.
 */
const serverAction = fc.record({
  do: fc.constantFrom('send the ID', 'send the address', 'send both', 'add the ID', 'add the address'),
  pair,
  linked: fc.option(fc.constantFrom(...pageUsers)),
});
type Step =
  | (typeof pageAction extends fc.Arbitrary<infer Value> ? Value : never)
  | (typeof serverAction extends fc.Arbitrary<infer Value> ? Value : never);

const isClaim = (one: Step): one is Extract<Step, { user: string }> => 'user' in one;

const sendAsServer = async (site: Site, one: Extract<Step, { pair: number }>): Promise<void> => {
  const [id, mail] = [externalIDs[one.pair] as string, addresses[one.pair] as string];
  const create = (input: { externalID?: string; address?: string }) =>
    site.server.createContact({ userUUID: one.linked, address: undefined, ...input });
  if (one.do === 'send the ID') await create({ externalID: id });
  else if (one.do === 'send the address') await create({ address: mail });
  else if (one.do === 'send both') await create({ externalID: id, address: mail }).catch(codeOf);
  else if (one.do === 'add the ID') await site.update({ address: mail, externalID: id }).catch(codeOf);
  else await site.update({ externalID: id, address: mail }).catch(codeOf);
};

export const describeKeyProperties = (newSite: NewSite): void => {
  describe('any history of keys', () => {
    test('results in the same contacts as a simple model', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 14, size: 'max' }), async (actions) => {
          const site = await newSite();
          const model = createModel();
          for (const one of actions) {
            await applyAction(site, model, one);
            const get = (key: object) =>
              site.store
                .getContact({ account: site.account, token: site.server.token, browser: false, include: [], ...key })
                .then(
                  ({ contactUUID, fields }) => ({
                    contactUUID,
                    externalID: fields.contactExternalID,
                    address: fields.contactEmailaddress,
                  }),
                  codeOf,
                );
            for (const person of model.all()) {
              expect(await get({ contactUUID: person.contactUUID })).toEqual(model.responseOf(person));
            }
            const allKeys = [
              ...externalIDs.map((value) => ({ name: 'externalID' as const, value })),
              ...addresses.map((value) => ({ name: 'address' as const, value })),
            ];
            for (const { name, value } of allKeys) {
              const holder = model.holderOf(name, value);
              expect(await get({ [name]: value })).toEqual(holder ? model.responseOf(holder) : 'unknown_contact');
            }
          }
        }),
        { numRuns: runs(10, 30) },
      );
    });

    test('gives a page the same responses no matter which keys a server knows, and which of them belong together', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ weight: 3, arbitrary: pageAction }, { weight: 1, arbitrary: serverAction }), {
            minLength: 6,
            maxLength: 20,
            size: 'max',
          }),
          async (steps) => {
            const [withServer, withoutServer] = [await newSite(), await newSite()];
            for (const one of steps) {
              if (!isClaim(one)) {
                await sendAsServer(withServer, one);
                continue;
              }
              const name = newID('handle');
              const claim = async (site: Site, place: string) => {
                const request = { userUUID: one.user, address: undefined, ...one.keys, newHandle: `${name}-${place}` };
                const { exists, contactUUID } = await site.browser.createContact(request);
                return { exists, handle: contactUUID.replace(`-${place}`, '') };
              };
              expect(await claim(withServer, 'known')).toEqual(await claim(withoutServer, 'unknown'));
            }
          },
        ),
        { numRuns: runs(10, 30) },
      );
    });
  });
};
