import { limits } from '@firsthand/contract/limits';
import type { WebhookType } from '@firsthand/contract/webhook';
import { describe, expect, test } from 'vitest';
import type { DueAudience } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, cleo, expectRefusal, newID } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const types: readonly WebhookType[] = ['segment.entered', 'segment.left'];

const saveSegments = async ({ store, account, time }: Site, ...segmentNames: string[]) => {
  for (const segmentName of segmentNames) await store.saveSegment({ account, segmentName, filter: '{}', time });
};

const newWebhook = async (site: Site, segmentNames: readonly string[], given: readonly WebhookType[] = types) => {
  const { account, store, time } = site;
  const webhookID = newID('webhook');
  const sentThrough = await lastSequence(site);
  const settings = { url: 'https://crm.example/', description: '', payload: 'thin', types: given } as const;
  const filter = { segmentNames };
  await store.createWebhook({ ...settings, account, webhookID, filter, sentThrough, time });
  return { webhookID, sentThrough };
};

const dueOf = async ({ store, account, time }: Site): Promise<DueAudience[]> =>
  (await store.listDueAudiences({ time })).filter((audience) => audience.account === account);

const newAudience = async (site: Site, given?: readonly WebhookType[]) => {
  await saveSegments(site, 'Buyers');
  const webhook = await newWebhook(site, ['Buyers'], given);
  const [due] = await dueOf(site);
  return { ...webhook, ...(due as DueAudience) };
};

/** Creates contacts and returns their UUIDs and numbers. */
const createContacts = async (site: Site, ...addresses: string[]) => {
  const contactUUIDs: string[] = [];
  for (const address of addresses)
    contactUUIDs.push((await site.server.createContact({ userUUID: null, address })).contactUUID);
  const { contacts } = await site.store.feedContacts({
    account: site.account,
    conditions: [{}],
    beyond: null,
    limit: 100,
  });
  return { contactUUIDs, numbers: [...(contacts[0] ?? [])].sort((a, b) => a - b) };
};

/** Ascending, because such a read waits for the writes in progress. */
const lastSequence = async ({ store, account }: Site) =>
  (await store.getEvents({ account, order: 'asc', limit: 1_000 })).through;

const factsOf = async (site: Site, { webhookID, sentThrough }: { webhookID: string; sentThrough: number }) => {
  const { store, account } = site;
  const through = await lastSequence(site);
  const query = { account, after: sentThrough, through, limit: 1_000, recognized: false, webhookID };
  return (await store.listFacts(query)).facts.map(({ type, contactUUID, detail }) => [type, contactUUID, detail]);
};

const contactsOf = async ({ store, account }: Site, audience: number) =>
  (await store.listAudienceContacts({ account, audience })).sort((a, b) => a - b);

export const describeAudiences = (newSite: NewSite): void => {
  describe('audiences', () => {
    test('are the segments of a webhook that subscribes to segment changes', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      await saveSegments(site, 'Buyers', 'Visitors', 'Others');
      const { webhookID } = await newWebhook(site, ['Visitors', 'Buyers', 'Buyers']);
      const names = async () => (await store.listAudiences({ account })).map(({ segmentName }) => segmentName);
      expect(await store.listAudiences({ account })).toEqual(
        ['Buyers', 'Visitors'].map((segmentName) => ({
          ...{ webhookID, segmentName, comparedTime: null, contacts: 0, problem: '' },
        })),
      );
      const other = await newWebhook(site, ['Buyers']);
      expect(await names()).toEqual(['Buyers', 'Buyers', 'Visitors']);
      const change = (changes: object) => store.updateWebhook({ account, webhookID, changes, time });
      await change({ filter: { segmentNames: ['Visitors', 'Others'] } });
      expect(await names()).toEqual(['Buyers', 'Others', 'Visitors']);
      await change({ url: 'https://other.example/' });
      expect(await names()).toEqual(['Buyers', 'Others', 'Visitors']);
      await change({ types: ['contact.created'] });
      expect(await names()).toEqual(['Buyers']);
      await newWebhook(site, ['Buyers'], ['event.logged']);
      expect(await names()).toEqual(['Buyers']);
      await store.deleteWebhook({ account, webhookID: other.webhookID, time });
      expect(await names()).toEqual([]);
    });

    test('need a saved segment, and are limited in number per account', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      await expectRefusal(newWebhook(site, ['Buyers']), 'unknown_segment');
      expect(await store.listWebhooks({ account })).toEqual([]);
      const segmentNames = Array.from({ length: limits.audiencesPerAccount }, (_, nth) => `segment ${nth}`);
      await saveSegments(site, ...segmentNames, 'Buyers');
      const { webhookID } = await newWebhook(site, segmentNames);
      await expectRefusal(newWebhook(site, ['Buyers']), 'invalid_field');
      const changes = { filter: { segmentNames: ['Buyers', ...segmentNames.slice(1)] } };
      await store.updateWebhook({ account, webhookID, changes, time });
      expect(await store.listAudiences({ account })).toHaveLength(limits.audiencesPerAccount);
    });

    test('keep their segment from being deleted', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { webhookID } = await newAudience(site);
      await expectRefusal(store.deleteSegment({ account, segmentName: 'Buyers' }), 'invalid_field');
      await store.deleteWebhook({ account, webhookID, time });
      await store.deleteSegment({ account, segmentName: 'Buyers' });
    });

    test('are due until a server claims them, and again when their segment changes', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { webhookID, audience, nextTime } = await newAudience(site);
      const claim = { account, audience, nextTime, until: time + 1 };
      expect(await store.claimAudience(claim)).toBe(true);
      expect(await store.claimAudience(claim)).toBe(false);
      expect(await dueOf(site)).toEqual([]);
      await saveSegments(site, 'Buyers');
      expect(await dueOf(site)).toEqual([{ account, audience, segmentName: 'Buyers', nextTime: 0 }]);
      await store.updateWebhook({ account, webhookID, changes: { state: 'paused' }, time });
      expect(await dueOf(site)).toEqual([]);
      await store.deleteWebhook({ account, webhookID, time });
      expect(await store.claimAudience({ ...claim, nextTime: 0 })).toBe(false);
    });

    test('change together with their webhook’s facts', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { contactUUIDs, numbers } = await createContacts(site, ann, ben);
      const webhook = await newAudience(site);
      const { audience } = webhook;
      const other = await newWebhook(site, ['Buyers']);
      const change = (entered: readonly number[], left: readonly number[]) =>
        store.changeAudience({ account, audience, entered, left, time });
      expect(await change(numbers, [])).toBe(true);
      expect(await change(numbers, [])).toBe(true);
      expect(await contactsOf(site, audience)).toEqual(numbers);
      expect(await change([], [numbers[0] as number, 9e9])).toBe(true);
      expect(await contactsOf(site, audience)).toEqual([numbers[1]]);
      const detail = { segmentName: 'Buyers' };
      const facts = await factsOf(site, webhook);
      expect(facts.slice(0, 2).sort()).toEqual(contactUUIDs.map((uuid) => ['segment.entered', uuid, detail]).sort());
      expect(facts.slice(2)).toEqual([['segment.left', contactUUIDs[0], detail]]);
      expect(await factsOf(site, other)).toEqual([]);
      await store.deleteWebhook({ account, webhookID: webhook.webhookID, time });
      expect(await change(numbers, [])).toBe(false);
    });

    test('store facts only of the types that their webhook wants', async () => {
      const site = await newSite();
      const { numbers } = await createContacts(site, ann);
      const webhook = await newAudience(site, ['segment.left']);
      const { account, audience } = webhook;
      const change = { account, audience, time: site.time };
      await site.store.changeAudience({ ...change, entered: numbers, left: [] });
      await site.store.changeAudience({ ...change, entered: [], left: numbers });
      expect((await factsOf(site, webhook)).map(([type]) => type)).toEqual(['segment.left']);
    });

    test('are not compared while their webhook has unsent changes', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { numbers } = await createContacts(site, ann);
      const { audience, nextTime, webhookID } = await newAudience(site);
      await store.changeAudience({ account, audience, entered: numbers, left: [], time });
      const claim = { account, audience, nextTime, until: time + 1 };
      expect(await store.claimAudience(claim)).toBe(false);
      const changes = { sentThrough: await lastSequence(site) };
      await store.updateWebhook({ account, webhookID, changes, time });
      expect(await store.claimAudience(claim)).toBe(true);
    });

    test('lose erased contacts without a fact, and never get them again', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { contactUUIDs, numbers } = await createContacts(site, ann, ben, cleo);
      const webhook = await newAudience(site);
      const { audience, nextTime } = webhook;
      await store.changeAudience({ account, audience, entered: numbers.slice(0, 2), left: [], time });
      await site.erase(contactUUIDs[0] as string);
      await site.erase(contactUUIDs[2] as string);
      expect(await contactsOf(site, audience)).toEqual([numbers[1]]);
      await store.changeAudience({ account, audience, entered: numbers, left: [], time });
      expect(await contactsOf(site, audience)).toEqual([numbers[1]]);
      expect(await factsOf(site, webhook)).toEqual([['segment.entered', contactUUIDs[1], { segmentName: 'Buyers' }]]);
      await site.erase(contactUUIDs[1] as string);
      expect(await store.claimAudience({ account, audience, nextTime, until: time + 1 })).toBe(true);
    });

    test('include the result of their last comparison', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { audience } = await newAudience(site);
      await store.recordComparison({ account, audience, contacts: 7, problem: '', time });
      const compared = { comparedTime: time, contacts: 7, problem: '' };
      expect(await store.listAudiences({ account })).toMatchObject([compared]);
      await store.recordComparison({ account, audience, contacts: 0, problem: 'too_many_contacts', time: time + 1 });
      expect(await store.listAudiences({ account })).toMatchObject([{ ...compared, problem: 'too_many_contacts' }]);
    });
  });
};
