/** Creates, lists and revokes share links. */
import { limits } from '@firsthand/contract/limits';
import type { ViewPage } from '@firsthand/contract/reports/view';
import { nanoid } from 'nanoid';
import { hashToken } from '../../../ingest/token.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import type { Store } from '../../../store/store.ts';
import { accountOf, auditFieldsOf, type Handlers } from '../../access/caller.ts';
import { isoTime } from '../../responses/iso-time.ts';
import type { CheckReport } from './reports.ts';
import { type SharedView, toSharedQuery, toSharedReports } from './shared-view.ts';

/** Throws Refusal('invalid_field') for an expiry in the past or too far in the future. */
const checkExpiry = (expiresTime: number, time: number): void => {
  const days = limits.shareLinkDays;
  if (expiresTime > time && expiresTime <= time + days * dayMilliseconds) return;
  throw new Refusal('invalid_field', {
    field: 'expiresTime',
    message: `\`expiresTime\` must be in the future, and at most ${days} days from now`,
  });
};

export const createShareLinks = (
  store: Pick<Store, 'listSegments' | 'createShareLink' | 'listShareLinks' | 'revokeShareLink'>,
  checkReport: CheckReport,
): Handlers<'createShareLink' | 'listShareLinks' | 'revokeShareLink'> => ({
  createShareLink: async (
    { shareName, expiresTime: requestedExpiry, viewPage: page, viewQuery = '', moving, report },
    caller,
  ) => {
    const { time, access } = caller;
    const expiresTime = requestedExpiry ?? time + limits.shareLinkDefaultDays * dayMilliseconds;
    checkExpiry(expiresTime, time);
    const account = accountOf(caller);
    const { accountOrigin, accountTimezone } = access;
    const context = { store, checkReport, account, accountOrigin, accountTimezone, time };
    const reports = await toSharedReports({ report, moving }, context);
    const view: SharedView = { query: toSharedQuery(viewQuery, reports), moving, report: reports };
    // Prefixed so that secret scanners and our log scrubber recognize it.
    const shareSecret = `share_${nanoid(32)}`;
    const shareID = nanoid();
    const link = { shareID, shareName, page, view: JSON.stringify(view), hash: hashToken(shareSecret), expiresTime };
    await store.createShareLink({ ...link, ...auditFieldsOf(caller) });
    return { shareID, shareSecret, expiresTime: isoTime(expiresTime) };
  },

  listShareLinks: async (_, caller) => {
    const links = await store.listShareLinks({ account: accountOf(caller) });
    return {
      shareLink: links.map(
        ({ shareID, shareName, page, createdTime, createdBy, memberID, expiresTime, lastUsedTime }) => ({
          shareID,
          shareName,
          viewPage: page as ViewPage,
          createdTime: isoTime(createdTime),
          createdBy: createdBy ?? '',
          ...(memberID !== null && { memberID }),
          expiresTime: isoTime(expiresTime),
          ...(lastUsedTime !== null && { lastUsedTime: isoTime(lastUsedTime) }),
        }),
      ),
    };
  },

  revokeShareLink: async ({ shareID }, caller) => {
    await store.revokeShareLink({ shareID, ...auditFieldsOf(caller) });
    return { shareID };
  },
});
