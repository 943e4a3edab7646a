import type { Store } from '../../../store/store.ts';
import { type Handlers, namedAccount } from '../../access/caller.ts';
import { parseCursor, toCursor } from '../../responses/cursor.ts';
import { isoTime } from '../../responses/iso-time.ts';

export const createAudit = (store: Store): Handlers<'listAudit'> => ({
  listAudit: async ({ accountUUID, from, to, action, limit = 100, cursor }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const beyond = parseCursor('audit', cursor);
    const { entries, next } = await store.listAudit({ account, from, to, action, limit, beyond });
    return {
      audit: entries.map(({ audit, actor, memberID, action, subject, time }) => ({
        auditID: String(audit),
        auditTime: isoTime(time),
        actor: actor ?? 'command',
        ...(memberID !== null && { memberID }),
        action,
        subject,
      })),
      nextCursor: toCursor('audit', next),
    };
  },
});
