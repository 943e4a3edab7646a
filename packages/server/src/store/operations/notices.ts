/** Facts about an account that webhooks send at most once per period: refused requests, and storage near its quota. */
import { dayMilliseconds } from '../../shared/time.ts';
import type { RequestOf } from '../store.ts';
import type { ContactParts } from './contact-store.ts';
import { recordFact } from './facts.ts';
import { all, createQuery, lockAccount, type Operation } from './operation.ts';

const selectNotices = createQuery<{ detail: string }>(
  () => 'SELECT detail FROM webhook_fact WHERE account = $1 AND type = $2 AND time >= $3',
);

const countCodes = createQuery<{ code: string; requests: number }>(
  ({ name }) => `
    SELECT r.code, count(*) AS requests FROM refused_request r
    ${name === 'sqlite' ? 'JOIN token t ON t.token = r.token' : ''}
    WHERE ${name === 'sqlite' ? 't' : 'r'}.account = $1 AND r."refusedTime" >= $2 AND r."refusedTime" < $3
    GROUP BY r.code ORDER BY r.code`,
);

export function* noticeRefusals(
  { contacts: source }: Pick<ContactParts, 'contacts'>,
  { account, from, to }: RequestOf<'noticeRefusals'>,
): Operation<void> {
  yield* lockAccount(account);
  if ((yield* all(selectNotices(account, 'request.refused', to))).length > 0) return;
  const codes = yield* all(countCodes(account, from, to));
  if (codes.length === 0) return;
  const requests = Object.fromEntries(codes.map(({ code, requests: count }) => [code, Number(count)]));
  const detail = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), requests };
  yield* recordFact(source, { account, type: 'request.refused', detail, time: to });
}

export function* noticeQuota(
  { contacts: source }: Pick<ContactParts, 'contacts'>,
  { account, percent, storedBytes, accountBytes, time }: RequestOf<'noticeQuota'>,
): Operation<void> {
  yield* lockAccount(account);
  const notices = yield* all(selectNotices(account, 'quota.near', time - dayMilliseconds));
  if (notices.some(({ detail }) => JSON.parse(detail).percent >= percent)) return;
  const detail = { percent, storedBytes, accountBytes };
  yield* recordFact(source, { account, type: 'quota.near', detail, time });
}
