/** Checks the metrics and the alert rules with Prometheus's own tool. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

const token = 'a-token-of-a-test-0123456789';

it('serves metrics that promtool accepts after some traffic', async () => {
  const { url } = await serveHere({ ...temporaryDatabase().env, METRICS_TOKEN: token });
  const { serverTokenUUID } = await createAccount(url);
  const client = createClient({ url, token: serverTokenUUID });
  await client.logEvent({ eventID: 1, userUUID: 'a-browser-of-a-test' });
  await client.logEvent({ eventID: 0, userUUID: 'a-browser-of-a-test' }).catch(() => {});
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
  const input = await response.text();
  expect(input).toContain('firsthand_commit_statement_duration_seconds_bucket');
  // promtool prints problems on standard error and exits with 3.
  expect(execFileSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('');
});

it('has alert rules that promtool accepts', () => {
  const rules = fileURLToPath(new URL('../../deploy/metrics/alerts.yml', import.meta.url));
  expect(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })).toMatch(/SUCCESS: 6 rules found/);
});
