import type { Store } from '../../store/store.ts';
import { type AnsweringAll, accountOf, actorOf, askerOf } from '../access/caller.ts';
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
  voidLink: async ({ linkID, tokenID = '', from, to, restore = false }, caller) => ({
    links: await store.voidLinks({
      account: accountOf(caller),
      restore,
      by: actorOf(caller),
      time: caller.time,
      links: linkID === undefined ? { tokenID, from, to } : { linkID },
    }),
  }),

  acceptClaim: async ({ claimID }, caller) =>
    store.acceptClaim({ account: accountOf(caller), claimID, by: actorOf(caller), time: caller.time }),

  voidClaim: async ({ claimID, restore = false }, caller) =>
    store.voidClaim({ account: accountOf(caller), claimID, restore, by: actorOf(caller), time: caller.time }),

  mergeContact: async ({ contactUUID, otherContactUUID }, caller) => {
    const merge = { account: accountOf(caller), contactUUID, otherContactUUID, by: actorOf(caller), time: caller.time };
    const { mergedTime, ...merged } = await store.mergeContact(merge);
    return { ...merged, mergedTime: isoTime(mergedTime) };
  },

  unmergeContact: async ({ otherContactUUID }, caller) =>
    store.unmergeContact({
      account: accountOf(caller),
      otherContactUUID,
      by: actorOf(caller),
      time: caller.time,
    }),
});
