import { afterEach, expect, it, vi } from 'vitest';
import { soon } from '../../../test/fixtures/timeouts.ts';
import type { Webhook } from '../../store/store.ts';
import { startNotices } from './notices.ts';

const hour = 3_600_000;
const errors: unknown[] = [];
let stop: () => Promise<void> = async () => {};
afterEach(() => stop());

const webhook = (account: number, type: string, createdTime = 0) =>
  ({ account, types: [type], createdTime }) as unknown as Webhook;

it('counts the refused requests of the last full hour for each account that wants them', async () => {
  const notices: unknown[] = [];
  const noticeRefusals = async (request: object) => void notices.push(request);
  const refused = [1, 1, 2].map((account) => webhook(account, 'request.refused'));
  const others = [webhook(3, 'contact.created'), webhook(4, 'request.refused', 7 * hour)];
  const store = { listWebhooks: async () => [...refused, ...others], noticeRefusals };
  stop = startNotices({ store, log: { error: (fields: unknown) => errors.push(fields) }, now: () => 7.5 * hour });
  const range = { from: 6 * hour, to: 7 * hour };
  await vi.waitFor(() => expect(notices).toEqual([1, 2].map((account) => ({ account, ...range }))), soon);
  expect(errors).toEqual([]);
});

it('logs an error of the store', async () => {
  const store = { listWebhooks: () => Promise.reject(new Error('away')), noticeRefusals: async () => {} };
  stop = startNotices({ store, log: { error: (fields: unknown) => errors.push(fields) } });
  await vi.waitFor(() => expect(errors.splice(0)).toMatchObject([{ err: new Error('away') }]), soon);
});
