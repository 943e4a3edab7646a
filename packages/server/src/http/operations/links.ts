import type { Store } from '../../store/store.ts';
import { auditFieldsOf, type Handlers, toStoreCaller } from '../access/caller.ts';
import { toNamedContact, toNamedOther } from '../request/contact-names.ts';
import { isoTime } from '../responses/iso-time.ts';

export const createLinks = (
  store: Store,
): Handlers<
  'linkUser' | 'unlinkUser' | 'voidLink' | 'acceptClaim' | 'voidClaim' | 'mergeContact' | 'unmergeContact'
> => ({
  linkUser: async ({ userUUID, ...naming }, caller) => {
    const { account, token } = toStoreCaller(caller);
    const link = { token, userUUID, ...toNamedContact(account, naming), time: caller.time };
    const { exists, linkID } = await store.linkUser(link);
    return { exists, linkID };
  },

  unlinkUser: async ({ userUUID }, caller) => {
    const { account, token } = toStoreCaller(caller);
    return store.unlinkUser({ account, token, userUUID, time: caller.time });
  },

  // linkID takes precedence. Without it, tokenID, from and to select the links.
  voidLink: async ({ linkID, tokenID = '', from, to, restore = false }, caller) => {
    const links = linkID === undefined ? { tokenID, from, to } : { linkID };
    return { links: await store.voidLinks({ ...auditFieldsOf(caller), restore, links }) };
  },

  acceptClaim: async ({ claimID }, caller) => store.acceptClaim({ ...auditFieldsOf(caller), claimID }),

  voidClaim: async ({ claimID, restore = false }, caller) =>
    store.voidClaim({ ...auditFieldsOf(caller), claimID, restore }),

  mergeContact: async (input, caller) => {
    const act = auditFieldsOf(caller);
    const merge = { ...act, ...toNamedContact(act.account, input), ...toNamedOther(input) };
    const { contactUUID, mergedTime } = await store.mergeContact(merge);
    return { contactUUID, mergedTime: isoTime(mergedTime) };
  },

  unmergeContact: async (input, caller) => store.unmergeContact({ ...auditFieldsOf(caller), ...toNamedOther(input) }),
});
