import type { Store } from '../../store/store.ts';
import { type AnsweringAll, actOf, askerOf } from '../access/caller.ts';
import { isoTime } from '../answers/iso-time.ts';

export const createLinks = (
  store: Store,
): AnsweringAll<
  'linkUser' | 'unlinkUser' | 'voidLink' | 'acceptClaim' | 'voidClaim' | 'mergeContact' | 'unmergeContact'
> => ({
  linkUser: async ({ userUUID, contactUUID }, caller) => {
    const { account, token } = askerOf(caller);
    return store.linkUser({ account, token, userUUID, contactUUID, time: caller.time });
  },

  unlinkUser: async ({ userUUID }, caller) => {
    const { account, token } = askerOf(caller);
    return store.unlinkUser({ account, token, userUUID, time: caller.time });
  },

  // linkID takes precedence. Without it, tokenID, from and to select many links.
  voidLink: async ({ linkID, tokenID = '', from, to, restore = false }, caller) => {
    const links = linkID === undefined ? { tokenID, from, to } : { linkID };
    return { links: await store.voidLinks({ ...actOf(caller), restore, links }) };
  },

  acceptClaim: async ({ claimID }, caller) => store.acceptClaim({ ...actOf(caller), claimID }),

  voidClaim: async ({ claimID, restore = false }, caller) => store.voidClaim({ ...actOf(caller), claimID, restore }),

  mergeContact: async ({ contactUUID, otherContactUUID }, caller) => {
    const { mergedTime, ...merged } = await store.mergeContact({ ...actOf(caller), contactUUID, otherContactUUID });
    return { ...merged, mergedTime: isoTime(mergedTime) };
  },

  unmergeContact: async ({ otherContactUUID }, caller) => store.unmergeContact({ ...actOf(caller), otherContactUUID }),
});
