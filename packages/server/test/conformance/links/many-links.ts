// Tests limits on claimed links: a user for whom many addresses are claimed, and a contact that many users claim.
import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import { why } from '../../../src/identity/ownership.ts';
import {
  decideClaimedLink,
  decideLink,
  decideUnlink,
  findExcessLinks,
  type StoredStatement,
} from '../../../src/identity/statements.ts';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, expectRefusal, laptop, newID } from '../../fixtures/store.ts';
import { createRandom } from '../../tools/counts.ts';
import type { NewSite } from '../sites.ts';

const maxLinks = limits.claimedLinksPerUser;
const addressOf = (nth: number) => `claimed-${nth}@example.com`;

const claimEach = async (site: Site, addresses: readonly string[]) => {
  for (const address of addresses) await site.browser.createContact({ address, newHandle: newID('handle') });
};
const newAddresses = (count: number, from = 0) => Array.from({ length: count }, (_, nth) => addressOf(from + nth));

const contactOf = async ({ store, account }: Site, address: string): Promise<string> => {
  const results = await store.searchContact({ account, address, limit: 1 });
  return results.contacts[0]?.contactUUID as string;
};

const linksTo = async (site: Site, address: string) => {
  const { links = [] } = await site.server.getContact(await contactOf(site, address), 'link');
  return links.filter(({ userUUID }) => userUUID === laptop);
};

/** A model of the store that uses the rules of `identity/`. A contact is the index of its address. */
const createModel = (addresses: readonly string[]) => {
  let sequence = 0;
  let statements: (StoredStatement & { claim: number | null; handle: string | null })[] = [];
  const events: { eventUUID: string; sequence: number }[] = [];
  const append = (contact: number | null, verified: boolean, handle: string | null) => {
    sequence += 1;
    const claim = verified ? null : contact;
    statements.push({ sequence, contact, verified, voided: false, onlyClaimed: !verified, claim, handle });
  };
  return {
    log(eventUUID: string) {
      sequence += 1;
      events.push({ eventUUID, sequence });
    },
    link(address: string, verified: boolean, handle: string | null) {
      const contact = addresses.indexOf(address);
      const decision = verified
        ? decideLink(statements, contact)
        : decideClaimedLink(statements, (statement) => statement.contact === contact);
      if (decision.do === 'append') {
        append(contact, verified, handle);
        const dropped = verified ? [] : findExcessLinks(statements, maxLinks);
        statements = statements.filter((statement) => !dropped.includes(statement));
      } else if (decision.do === 'verify') {
        statements = statements.map((statement) =>
          statement === decision.statement ? { ...statement, verified: true, onlyClaimed: false } : statement,
        );
      }
    },
    unlink() {
      if (decideUnlink(statements)) append(null, true, null);
    },
    /** Returns the nth handle among the claims that have a link. */
    someHandle: (nth: number) => statements.flatMap(({ handle }) => handle ?? []).at(nth),
    accept(accepted: string) {
      statements = statements.map((statement) =>
        statement.handle === accepted ? { ...statement, verified: true, onlyClaimed: false } : statement,
      );
    },
    owners: () =>
      Object.fromEntries(
        events.map((event): [string, string] => {
          const { owner } = why({ ...event, contact: null }, statements);
          return [event.eventUUID, owner === null ? '' : (addresses[owner] as string)];
        }),
      ),
    linkCount: () => statements.filter(({ contact }) => contact !== null).length,
  };
};

export const describeManyLinks = (newSite: NewSite): void => {
  describe('a user for whom too many addresses are claimed', () => {
    test('has a limited number of claimed links: the oldest are dropped, except accepted and verified ones', async () => {
      const site = await newSite();
      const { server, browser } = site;
      const claim = (address: string, changes = {}) =>
        browser.createContact({ address, newHandle: newID('handle'), ...changes });
      await server.log({ eventUUID: 'event-first-1' });
      const oldest = await claim('oldest@example.com', { requestUUID: 'request-of-oldest' });
      await server.log({ eventUUID: 'event-oldest-1' });
      const accepted = await claim('accepted@example.com');
      await site.acceptClaim(accepted.contactUUID);
      await server.log({ eventUUID: 'event-accepted-1' });
      await site.unlink(laptop);
      const second = await claim('second@example.com');
      await claimEach(site, newAddresses(maxLinks - 2));
      await server.log({ eventUUID: 'event-last-1' });
      expect(await linksTo(site, 'oldest@example.com')).toHaveLength(1);

      await claimEach(site, [ben]);
      expect(await linksTo(site, 'oldest@example.com')).toEqual([]);
      await expectRefusal(browser.getContact(oldest.contactUUID), 'unknown_contact');
      for (const { contactUUID } of [accepted, second]) await browser.getContact(contactUUID);
      const acceptedUUID = await contactOf(site, 'accepted@example.com');
      // The accepted link also covers earlier events, because the dropped claim no longer has an effect.
      expect(await site.owners()).toEqual({
        'event-first-1': acceptedUUID,
        'event-oldest-1': acceptedUUID,
        'event-accepted-1': acceptedUUID,
        'event-last-1': await contactOf(site, addressOf(maxLinks - 3)),
      });
      expect(await site.owners({ contactUUID: await contactOf(site, 'oldest@example.com') })).toEqual({});

      const { contactUUID } = await server.createContact({ address: ann });
      await claimEach(site, newAddresses(maxLinks, maxLinks));
      expect(await linksTo(site, ann)).toHaveLength(1);
      expect(await linksTo(site, 'accepted@example.com')).toHaveLength(1);
      expect(await linksTo(site, 'second@example.com')).toEqual([]);
      await server.log({ eventUUID: 'event-of-ann-1' });
      expect((await site.owners())['event-of-ann-1']).toBe(contactUUID);
      // Retries a request, which runs again because its claim is gone.
      const again = await claim('oldest@example.com', { requestUUID: 'request-of-oldest' });
      expect(again.exists).toBe(false);
      expect(again.contactUUID).not.toBe(oldest.contactUUID);
      expect(await linksTo(site, 'oldest@example.com')).toHaveLength(1);
    });

    test('adds no further links when claims alternate between two addresses, and keeps both claims', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'event-before-1' });
      const handles = new Set<string>();
      for (let nth = 0; nth < maxLinks + 11; nth += 1) {
        const address = nth % 2 === 0 ? ann : ben;
        handles.add((await site.browser.createContact({ address, newHandle: newID('handle') })).contactUUID);
      }
      expect((await linksTo(site, ann)).length + (await linksTo(site, ben)).length).toBe(maxLinks);
      expect(handles.size).toBe(2);
      for (const handle of handles) await site.browser.getContact(handle);
      // 111 links were created, starting with Ann's. The oldest link that remains is Ben's.
      expect(await site.owners()).toEqual({ 'event-before-1': await contactOf(site, ben) });
    });

    test('owns the events that the rules of identity/ assign through the remaining links, over any history', async () => {
      const site = await newSite();
      const addresses = [ann, ben, ...newAddresses(maxLinks + 20)];
      const model = createModel(addresses);
      const random = createRandom(16);
      let logged = 0;
      const log = async () => {
        const eventUUID = `event-${String(++logged).padStart(8, '0')}`;
        await site.browser.log({ eventUUID });
        model.log(eventUUID);
      };
      const claim = async () => {
        const address = addresses[Math.floor(random() * addresses.length)] as string;
        const { contactUUID } = await site.browser.createContact({ address, newHandle: newID('handle') });
        model.link(address, false, contactUUID);
      };
      const steps: readonly (() => Promise<unknown>)[] = [
        ...Array.from({ length: 20 }, () => claim),
        ...Array.from({ length: 5 }, () => log),
        async () => {
          const address = random() < 0.5 ? ann : ben;
          await site.server.createContact({ address });
          model.link(address, true, null);
          // Claims have no effect until the unlink.
          await log();
          await site.unlink(laptop);
          model.unlink();
        },
        async () => {
          const handle = model.someHandle(Math.floor(random() * maxLinks));
          if (handle === undefined) return;
          await site.acceptClaim(handle);
          model.accept(handle);
          await log();
          await site.unlink(laptop);
          model.unlink();
        },
      ];
      for (let step = 0; step < 3 * maxLinks; step += 1) await steps[Math.floor(random() * steps.length)]?.();
      const names = new Map<string, string>([['', '']]);
      let links = 0;
      for (const address of addresses) {
        const contactUUID = await contactOf(site, address);
        if (contactUUID === undefined) continue;
        names.set(contactUUID, address);
        links += (await linksTo(site, address)).length;
      }
      expect(links).toBe(model.linkCount());
      const owners = Object.entries(await site.owners()).map(([eventUUID, owner]) => [eventUUID, names.get(owner)]);
      expect(Object.fromEntries(owners)).toEqual(model.owners());
    });
  });
};

export const describeManyLinksToContact = (newSite: NewSite): void => {
  describe('a contact that users claim repeatedly', () => {
    test('has a limited number of links that are only claimed: the oldest across all users are dropped', async () => {
      const site = await newSite();
      const claim = (userUUID: string, address = ann, changes = {}) =>
        site.browser.createContact({ userUUID, address, newHandle: newID('handle'), ...changes });
      /** Links a user to Ann `times` times, each time followed by a link to another contact. */
      const linkInTurn = async (nth: number, times: number) => {
        for (let time = 0; time < times; time += 1) {
          await claim(`going-to-and-fro-${nth}`);
          await claim(`going-to-and-fro-${nth}`, addressOf(nth));
        }
      };
      const users = [
        'accepted-visitor',
        'verified-visitor',
        'proven-visitor-1',
        'oldest-visitor-1',
        'second-visitor-1',
      ];
      const eventOf = (userUUID: string) => `event-${userUUID}`;
      await site.browser.log(...users.map((userUUID) => ({ userUUID, eventUUID: eventOf(userUUID) })));
      const accepted = await claim('accepted-visitor');
      await site.acceptClaim(accepted.contactUUID);
      const verified = await claim('verified-visitor');
      const { contactUUID } = await site.server.createContact({ userUUID: 'verified-visitor', address: ann });
      const proven = await claim('proven-visitor-1', ann, { verified: true });
      await site.update({ contactUUID, externalID: 'customer-in-turn' });
      const byID = await claim('visitor-by-the-id', undefined, { externalID: 'customer-in-turn', address: undefined });
      const oldest = await claim('oldest-visitor-1');
      await claim('oldest-visitor-1', ben);
      const second = await claim('second-visitor-1');
      const perUser = maxLinks / 2;
      const crowd = limits.claimedLinksPerContact / perUser;
      // The number of concurrent claims: few, because each claim waits for the claims before it, and times out after
      // five seconds.
      const concurrency = 3;
      for (let first = 0; first < crowd - 1; first += concurrency)
        await Promise.all(
          Array.from({ length: Math.min(concurrency, crowd - 1 - first) }, (_, nth) =>
            linkInTurn(first + nth, perUser),
          ),
        );
      await linkInTurn(crowd, perUser - 2);
      // The number of links that do not count: three are accepted or verified, and the fourth has the contact's other
      // key, which has its own limit.
      const uncounted = 4;
      const countLinks = async () => (await site.server.getContact(contactUUID, 'link')).linkCount;
      const owned = Object.fromEntries(users.map((userUUID) => [eventOf(userUUID), contactUUID]));
      expect(await countLinks()).toBe(limits.claimedLinksPerContact + uncounted);
      expect(await site.owners()).toEqual(owned);

      await linkInTurn(crowd, 1);
      expect(await countLinks()).toBe(limits.claimedLinksPerContact + uncounted);
      await expectRefusal(site.browser.getContact(oldest.contactUUID), 'unknown_contact');
      // The dropped link no longer has an effect, but the user's later link does.
      const afterOldest = { ...owned, [eventOf('oldest-visitor-1')]: await contactOf(site, ben) };
      expect(await site.owners()).toEqual(afterOldest);

      await linkInTurn(crowd, 1);
      await expectRefusal(site.browser.getContact(second.contactUUID), 'unknown_contact');
      expect(await site.owners()).toEqual({ ...afterOldest, [eventOf('second-visitor-1')]: '' });
      for (const { contactUUID: handle } of [accepted, verified, proven, byID]) await site.browser.getContact(handle);

      // Accepts a claim, which makes room: its links no longer count toward the limit.
      const first = await claim('going-to-and-fro-0');
      await site.acceptClaim(first.contactUUID);
      const acceptedLinks = (await countLinks()) as number;
      await linkInTurn(crowd + 1, perUser);
      expect(await countLinks()).toBe(acceptedLinks + perUser);
      await linkInTurn(crowd + 2, 1);
      expect(await countLinks()).toBe(acceptedLinks + perUser);
    });
  });
};
