/** Tests limits on claims and links. Reaching them must not reveal a contact's keys or a server's links to a page. */
import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { Refusal } from '../../../src/shared/refusal.ts';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, laptop, newID } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const externalID = 'customer-1';

const claim = async (site: Site, keys: { address?: string; externalID?: string }): Promise<string> => {
  const request = { userUUID: laptop, address: undefined, newHandle: newID('handle'), ...keys };
  return (await site.browser.createContact(request)).contactUUID;
};
const claimOthers = async (site: Site, count: number) => {
  for (let nth = 0; nth < count; nth += 1) await claim(site, { externalID: `other-${nth}` });
};
const isHandle = (site: Site, handle: string): Promise<boolean> =>
  site.browser.getContact(handle).then(
    () => true,
    (error) => {
      expect((error as Refusal).code).toBe('unknown_contact');
      return false;
    },
  );

export const describeKeyLimits = (newSite: NewSite): void => {
  describe('a page that claims too many keys for one user', () => {
    test.each([
      ['both keys belong to one contact', { address: ann, externalID }],
      ['the keys belong to different contacts', { address: ben, externalID }],
    ])('loses a key’s claims together with the key’s last link, when %s', async (_, keys) => {
      const site = await newSite();
      await site.server.createContact({ userUUID: null, ...keys });
      const handles = [await claim(site, { address: ann }), await claim(site, { externalID })];
      await claimOthers(site, limits.claimedLinksPerUser - 2);
      const last = () => Promise.all(handles.map((handle) => isHandle(site, handle)));
      expect(await last()).toEqual([true, true]);
      await claim(site, { externalID: 'one-more' });
      expect(await last()).toEqual([false, true]);
      expect(await claim(site, { externalID })).toBe(handles[1]);
    });

    test.each([
      ['whom a server linked to the contact with one of the keys', ann],
      ['whom a server linked to another contact', ben],
    ])('also loses its claims for a user %s', async (_, address) => {
      const site = await newSite();
      await site.server.createContact({ userUUID: laptop, address });
      const handle = await claim(site, { address: ann });
      await claimOthers(site, limits.claimedLinksPerUser);
      expect(await isHandle(site, handle)).toBe(false);
    });
  });
};
