// Very many claimed links: of one user, for whom ever new addresses are claimed, and of one contact, which many users claim again
// and again. Both lists stay short.
import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import { why } from '../../../src/identity/ownership.ts';
import {
  decideClaimedLink,
  decideLink,
  decideUnlink,
  type KeptStatement,
  linksGivingWay,
} from '../../../src/identity/statements.ts';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, expectRefusal, laptop, newID } from '../../fixtures/store.ts';
import { createRandom } from '../../tools/counts.ts';
import type { NewSite } from '../sites.ts';

const most = limits.claimedLinksPerUser;
const addressOf = (nth: number) => `claimed-${nth}@example.com`;

const claimEach = async (site: Site, addresses: readonly string[]) => {
  for (const address of addresses) await site.browser.createContact({ address, newHandle: newID('handle') });
};
const newAddresses = (count: number, from = 0) => Array.from({ length: count }, (_, nth) => addressOf(from + nth));

const contactOf = async ({ store, account }: Site, address: string): Promise<string> => {
  const found = await store.searchContact({ account, address, limit: 1 });
  return found.contacts[0]?.contactUUID as string;
};

const linksTo = async (site: Site, address: string) => {
  const { links = [] } = await site.server.getContact(await contactOf(site, address), 'link');
  return links.filter(({ userUUID }) => userUUID === laptop);
};

/** What the store is asked to do, and what identity's rules make of it, with contacts numbered by their addresses. */
const createModel = (addresses: readonly string[]) => {
  let sequence = 0;
  let statements: (KeptStatement & { claim: number | null; handle: string | null })[] = [];
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
        const going = verified ? [] : linksGivingWay(statements, most);
        statements = statements.filter((statement) => !going.includes(statement));
      } else if (decision.do === 'verify') {
        statements = statements.map((statement) =>
          statement === decision.statement ? { ...statement, verified: true, onlyClaimed: false } : statement,
        );
      }
    },
    unlink() {
      if (decideUnlink(statements)) append(null, true, null);
    },
    /** The handle of one of the claims that have a link. */
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
  describe('a user for whom very many addresses are claimed', () => {
    test('holds so many claimed links; the oldest give way, never one that was accepted or verified', async () => {
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
      await claimEach(site, newAddresses(most - 2));
      await server.log({ eventUUID: 'event-last-1' });
      expect(await linksTo(site, 'oldest@example.com')).toHaveLength(1);

      await claimEach(site, [ben]);
      expect(await linksTo(site, 'oldest@example.com')).toEqual([]);
      await expectRefusal(browser.getContact(oldest.contactUUID), 'unknown_contact');
      for (const { contactUUID } of [accepted, second]) await browser.getContact(contactUUID);
      const acceptedUUID = await contactOf(site, 'accepted@example.com');
      // As if the oldest claim had never been made: the accepted link reaches back.
      expect(await site.owners()).toEqual({
        'event-first-1': acceptedUUID,
        'event-oldest-1': acceptedUUID,
        'event-accepted-1': acceptedUUID,
        'event-last-1': await contactOf(site, addressOf(most - 3)),
      });
      expect(await site.owners({ contactUUID: await contactOf(site, 'oldest@example.com') })).toEqual({});

      const { contactUUID } = await server.createContact({ address: ann });
      await claimEach(site, newAddresses(most, most));
      expect(await linksTo(site, ann)).toHaveLength(1);
      expect(await linksTo(site, 'accepted@example.com')).toHaveLength(1);
      expect(await linksTo(site, 'second@example.com')).toEqual([]);
      await server.log({ eventUUID: 'event-of-ann-1' });
      expect((await site.owners())['event-of-ann-1']).toBe(contactUUID);
      // Carried out anew, as its claim is gone.
      const again = await claim('oldest@example.com', { requestUUID: 'request-of-oldest' });
      expect(again.exists).toBe(false);
      expect(again.contactUUID).not.toBe(oldest.contactUUID);
      expect(await linksTo(site, 'oldest@example.com')).toHaveLength(1);
    });

    test('holds no more links when the same two addresses are claimed in turn, and both claims stay', async () => {
      const site = await newSite();
      await site.server.log({ eventUUID: 'event-before-1' });
      const handles = new Set<string>();
      for (let nth = 0; nth < most + 11; nth += 1) {
        const address = nth % 2 === 0 ? ann : ben;
        handles.add((await site.browser.createContact({ address, newHandle: newID('handle') })).contactUUID);
      }
      expect((await linksTo(site, ann)).length + (await linksTo(site, ben)).length).toBe(most);
      expect(handles.size).toBe(2);
      for (const handle of handles) await site.browser.getContact(handle);
      // 111 links were made, Ann's first; Ben's is the first of those that are left.
      expect(await site.owners()).toEqual({ 'event-before-1': await contactOf(site, ben) });
    });

    test('owns what identity’s rules say of the links that are left, whatever was said in between', async () => {
      const site = await newSite();
      const addresses = [ann, ben, ...newAddresses(most + 20)];
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
          // What is claimed decides nothing until then.
          await log();
          await site.unlink(laptop);
          model.unlink();
        },
        async () => {
          const handle = model.someHandle(Math.floor(random() * most));
          if (handle === undefined) return;
          await site.acceptClaim(handle);
          model.accept(handle);
          await log();
          await site.unlink(laptop);
          model.unlink();
        },
      ];
      for (let step = 0; step < 3 * most; step += 1) await steps[Math.floor(random() * steps.length)]?.();
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

  describe('a contact that users claim again and again', () => {
    test('holds so many links that only claims made; the oldest of all users give way', async () => {
      const site = await newSite();
      const claim = (userUUID: string, address = ann, changes = {}) =>
        site.browser.createContact({ userUUID, address, newHandle: newID('handle'), ...changes });
      /** Links a user to Ann so many times: in between, the user is somebody else. */
      const goToAndFro = async (nth: number, times: number) => {
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
      const perUser = most / 2;
      const crowd = limits.claimedLinksPerContact / perUser;
      // Few at once: each claim waits for those before it, for five seconds at most.
      const atOnce = 3;
      for (let first = 0; first < crowd - 1; first += atOnce)
        await Promise.all(
          Array.from({ length: Math.min(atOnce, crowd - 1 - first) }, (_, nth) => goToAndFro(first + nth, perUser)),
        );
      await goToAndFro(crowd, perUser - 2);
      // Three are not only claimed, and one is by the contact's other key, which is counted apart.
      const uncounted = 4;
      const countLinks = async () => (await site.server.getContact(contactUUID, 'link')).linkCount;
      const owned = Object.fromEntries(users.map((userUUID) => [eventOf(userUUID), contactUUID]));
      expect(await countLinks()).toBe(limits.claimedLinksPerContact + uncounted);
      expect(await site.owners()).toEqual(owned);

      await goToAndFro(crowd, 1);
      expect(await countLinks()).toBe(limits.claimedLinksPerContact + uncounted);
      await expectRefusal(site.browser.getContact(oldest.contactUUID), 'unknown_contact');
      // As if that link had never been made: what was said after it stands.
      const afterOldest = { ...owned, [eventOf('oldest-visitor-1')]: await contactOf(site, ben) };
      expect(await site.owners()).toEqual(afterOldest);

      await goToAndFro(crowd, 1);
      await expectRefusal(site.browser.getContact(second.contactUUID), 'unknown_contact');
      expect(await site.owners()).toEqual({ ...afterOldest, [eventOf('second-visitor-1')]: '' });
      for (const { contactUUID: handle } of [accepted, verified, proven, byID]) await site.browser.getContact(handle);

      // A claim that is accepted makes room: its links are not counted any more.
      const first = await claim('going-to-and-fro-0');
      await site.acceptClaim(first.contactUUID);
      const acceptedLinks = (await countLinks()) as number;
      await goToAndFro(crowd + 1, perUser);
      expect(await countLinks()).toBe(acceptedLinks + perUser);
      await goToAndFro(crowd + 2, 1);
      expect(await countLinks()).toBe(acceptedLinks + perUser);
    });
  });
};
