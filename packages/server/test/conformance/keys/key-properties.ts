/** What holds of external IDs and addresses whatever is done: a plain model of the rules, and what a page is told. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/shared/refusal.ts';
import type { Site } from '../../fixtures/site.ts';
import { newID } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const externalIDs = ['customer-1', 'customer-2', 'customer-3'];
const addresses = ['ann@example.com', 'ben@example.com', 'cleo@example.com'];

const externalID = fc.constantFrom(...externalIDs);
const address = fc.constantFrom(...addresses);
/** The nth of the contacts that were made, counted from the newest. */
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

/** A contact of the model. A key is null until it is given, and '' once it is cleared. */
interface Person {
  readonly contactUUID: string;
  externalID: string | null;
  address: string | null;
  into: Person | null;
}

const keyNames = ['address', 'externalID'] as const;
const takenCodes = { externalID: 'external_id_taken', address: 'email_taken' };

/** The rules for keys that server tokens send, with lists and loops only. A method returns an error code or a contactUUID. */
const createModel = () => {
  let people: Person[] = [];
  const answering = (person: Person): Person => (person.into === null ? person : answering(person.into));
  const groupOf = (person: Person) => {
    const kept = answering(person);
    return [kept, ...people.filter((other) => other !== kept && answering(other) === kept)];
  };
  const shown = (person: Person, name: 'externalID' | 'address') =>
    groupOf(person).find((one) => one[name] !== null)?.[name] ?? '';
  const holderOf = (name: 'externalID' | 'address', value: string) => people.find((one) => one[name] === value);

  /** `isFound`: a key that the person has already stays where it is. */
  const write = (person: Person, given: Keys, isFound: boolean): string => {
    const kept = answering(person);
    const present = shown(kept, 'externalID');
    if (isFound && given.externalID && present && present !== given.externalID) return 'external_id_taken';
    const values = keyNames.flatMap((name) => (given[name] ? [{ name, value: given[name] }] : []));
    const others = values.map(({ name, value }) => ({ name, value, holder: holderOf(name, value) ?? kept }));
    for (const { name, holder } of others) {
      if (holder !== kept && !(isFound && answering(holder) === kept)) return takenCodes[name];
    }
    for (const { name, value, holder } of others) if (holder === kept) kept[name] = value;
    if (given.externalID === null) kept.externalID = '';
    return kept.contactUUID;
  };

  return {
    answerOf: (person: Person) => ({
      contactUUID: answering(person).contactUUID,
      externalID: shown(person, 'externalID'),
      address: shown(person, 'address'),
    }),
    holderOf,
    newest: (nth: number): Person | undefined => people.at(-1 - nth),
    all: () => people,
    create(given: { externalID?: string; address?: string }, newContactUUID: string): string {
      const byID = given.externalID === undefined ? undefined : holderOf('externalID', given.externalID);
      const found = byID ?? (given.address === undefined ? undefined : holderOf('address', given.address));
      if (found) return write(found, byID ? { address: given.address } : { externalID: given.externalID }, true);
      const { externalID = null, address = null } = given;
      people.push({ contactUUID: newContactUUID, externalID, address, into: null });
      return newContactUUID;
    },
    update: (person: Person, given: Keys) => write(person, given, false),
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

/** Does one thing to the store and to the model. */
const doBoth = async (site: Site, model: ReturnType<typeof createModel>, one: Action): Promise<void> => {
  if (one.do === 'create') {
    const newContactUUID = newID('contact');
    const request = { userUUID: null, address: undefined, externalID: undefined, ...one.keys, newContactUUID };
    const answer = await site.server.createContact(request).then(({ contactUUID }) => contactUUID, codeOf);
    expect(answer).toBe(model.create(one.keys, newContactUUID));
    return;
  }
  const person = model.newest(one.nth);
  if (!person) return;
  const { contactUUID } = person;
  if (one.do === 'update') {
    const answer = await site.update({ contactUUID, ...one.keys }).then((updated) => updated.contactUUID, codeOf);
    expect(answer).toBe(model.update(person, one.keys));
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
/** What a server says of three people, each with an address and an external ID of their own, and of whom it links to them. */
const serverAction = fc.record({
  do: fc.constantFrom('say the ID', 'say the address', 'say both', 'add the ID', 'add the address'),
  pair,
  linked: fc.option(fc.constantFrom(...pageUsers)),
});
type Happening =
  | (typeof pageAction extends fc.Arbitrary<infer Value> ? Value : never)
  | (typeof serverAction extends fc.Arbitrary<infer Value> ? Value : never);

const isClaim = (one: Happening): one is Extract<Happening, { user: string }> => 'user' in one;

const say = async (site: Site, one: Extract<Happening, { pair: number }>): Promise<void> => {
  const [id, mail] = [externalIDs[one.pair] as string, addresses[one.pair] as string];
  const create = (given: { externalID?: string; address?: string }) =>
    site.server.createContact({ userUUID: one.linked, address: undefined, ...given });
  if (one.do === 'say the ID') await create({ externalID: id });
  else if (one.do === 'say the address') await create({ address: mail });
  else if (one.do === 'say both') await create({ externalID: id, address: mail }).catch(codeOf);
  else if (one.do === 'add the ID') await site.update({ address: mail, externalID: id }).catch(codeOf);
  else await site.update({ externalID: id, address: mail }).catch(codeOf);
};

export const describeKeyProperties = (newSite: NewSite): void => {
  describe('whatever is done with keys', () => {
    test('contacts are as a plain model of the rules says', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 14, size: 'max' }), async (actions) => {
          const site = await newSite();
          const model = createModel();
          for (const one of actions) {
            await doBoth(site, model, one);
            const get = (named: object) =>
              site.store
                .getContact({ account: site.account, token: site.server.token, browser: false, include: [], ...named })
                .then(
                  ({ contactUUID, fields }) => ({
                    contactUUID,
                    externalID: fields.contactExternalID,
                    address: fields.contactEmailaddress,
                  }),
                  codeOf,
                );
            for (const person of model.all()) {
              expect(await get({ contactUUID: person.contactUUID })).toEqual(model.answerOf(person));
            }
            const named = [
              ...externalIDs.map((value) => ({ name: 'externalID' as const, value })),
              ...addresses.map((value) => ({ name: 'address' as const, value })),
            ];
            for (const { name, value } of named) {
              const holder = model.holderOf(name, value);
              expect(await get({ [name]: value })).toEqual(holder ? model.answerOf(holder) : 'unknown_contact');
            }
          }
        }),
        { numRuns: 30 },
      );
    });

    test('a page is told the same whether or not a server knows the keys, and which belong together', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ weight: 3, arbitrary: pageAction }, { weight: 1, arbitrary: serverAction }), {
            minLength: 6,
            maxLength: 20,
            size: 'max',
          }),
          async (happenings) => {
            const [known, unknown] = [await newSite(), await newSite()];
            for (const one of happenings) {
              if (!isClaim(one)) {
                await say(known, one);
                continue;
              }
              const name = newID('handle');
              const told = async (site: Site, place: string) => {
                const request = { userUUID: one.user, address: undefined, ...one.keys, newHandle: `${name}-${place}` };
                const { exists, contactUUID } = await site.browser.createContact(request);
                return { exists, handle: contactUUID.replace(`-${place}`, '') };
              };
              expect(await told(known, 'known')).toEqual(await told(unknown, 'unknown'));
            }
          },
        ),
        { numRuns: 30 },
      );
    });
  });
};
