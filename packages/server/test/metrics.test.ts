import { readFileSync } from 'node:fs';
import { createClient } from '@firsthand/client';
import { errors } from '@firsthand/contract/errors';
import { operationNames } from '@firsthand/contract/operations';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createTraffic } from '../src/http/traffic.ts';
import { createMetrics } from '../src/serving/metrics.ts';
import { temporaryDatabase } from './fixtures/command.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';

const token = 'a-token-of-a-test-0123456789';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses text format 0.0.4, and throws on any other line. */
const parse = (text: string) => {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [, type, kind] = /^# TYPE ([a-z_]\w*) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (type !== undefined && kind !== undefined) {
      if (types.has(type)) throw new Error(`twice: ${line}`);
      types.set(type, kind);
      continue;
    }
    if (/^# HELP [a-z_]\w* \S/.test(line)) continue;
    const [, name, , list = '', value] =
      /^([a-z_]\w*)(\{((?:\w+="[^"\\\n]*",?)*)\})? (-?[\d.]+(?:e[+-]?\d+)?|Nan|[+-]Inf)$/.exec(line) ?? [];
    if (name === undefined || seen.has(`${name}{${list}}`)) throw new Error(`not a sample, or a duplicate: ${line}`);
    seen.add(`${name}{${list}}`);
    if (!types.has(name) && types.get(name.replace(/_(bucket|sum|count)$/, '')) !== 'histogram') {
      throw new Error(`has no type: ${line}`);
    }
    const labels = Object.fromEntries([...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, of]) => [label, of]));
    samples.push({ name, labels, value: Number(value) });
  }
  return { types, samples };
};

const scrape = async (url: string, headers: Record<string, string> = { Authorization: `Bearer ${token}` }) => {
  const response = await fetch(`${url}/metrics`, { headers });
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parse(await response.text());
};

/** Scrapes once the server has completed all work from earlier requests. */
const scrapeAtRest = async (url: string) => {
  let scraped = await scrape(url);
  const isAtRest = ({ samples }: typeof scraped) =>
    samples.some(({ name, value }) => name === 'firsthand_queue_bytes' && value === 0);
  await expect
    .poll(async () => {
      if (!isAtRest(scraped)) scraped = await scrape(url);
      return isAtRest(scraped);
    })
    .toBe(true);
  return scraped;
};

/** Starts a server and sends it some traffic. It serves metrics on both ports. */
const busyServer = async () => {
  const lines: { msg: string; port?: number }[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const { url } = await serveHere({ ...temporaryDatabase().env, METRICS_TOKEN: token, METRICS_PORT: '0' }, { log });
  const { serverTokenUUID } = await createAccount(url);
  const client = createClient({ url, token: serverTokenUUID });
  const userUUID = 'a-browser-of-a-test';
  await client.logEvent({ eventID: 1, userUUID, eventUUID: 'event-0001' });
  await client.logEvent({ eventID: 1, userUUID, eventUUID: 'event-0001' });
  await client.logEvents({
    userUUID,
    event: [{ eventID: 1 }, { eventID: 2 }, { eventID: -1 }, { eventID: 1, eventUUID: 'event-0001' }],
  });
  await client.logEvent({ eventID: 0, userUUID }).catch(() => {});
  await fetch(`${url}/no/such/path-of-a-client`);
  const port = lines.find(({ msg }) => msg === 'serving metrics')?.port;
  return { url, metricsURL: `http://127.0.0.1:${port}` };
};

describe('metrics', () => {
  it('count events as they happen, in the text format', async () => {
    const { url, metricsURL } = await busyServer();
    const { samples, types } = await scrapeAtRest(url);
    const numberOf = (name: string, labels: object = {}) =>
      samples.find(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )?.value;
    expect(numberOf('firsthand_events_kept_total')).toBe(3);
    expect(numberOf('firsthand_events_duplicate_total')).toBe(2);
    expect(numberOf('firsthand_refused_total', { code: 'invalid_field' })).toBe(2);
    // Expects every series from the start: a series that begins with the first rejection would show no increase.
    expect(samples.filter(({ name }) => name === 'firsthand_refused_total').map(({ labels }) => labels.code)).toEqual(
      Object.keys(errors),
    );
    expect(numberOf('firsthand_refused_total', { code: 'internal' })).toBe(0);
    expect(numberOf('firsthand_requests_total', { operation: 'logEvent', status: '200' })).toBe(2);
    expect(numberOf('firsthand_requests_total', { operation: 'logEvent', status: '400' })).toBe(1);
    expect(numberOf('firsthand_requests_total', { operation: 'unknown', status: '404' })).toBe(1);
    expect(numberOf('firsthand_request_duration_seconds_count', { operation: 'logEvent' })).toBe(3);
    expect(numberOf('firsthand_commit_events_sum')).toBeGreaterThanOrEqual(5);
    expect(numberOf('firsthand_commit_duration_seconds_count')).toBeGreaterThan(2);
    const commitSeconds = numberOf('firsthand_commit_duration_seconds_sum') as number;
    const statementSeconds = numberOf('firsthand_commit_statement_duration_seconds_sum') as number;
    expect(statementSeconds).toBeGreaterThan(0);
    expect(commitSeconds).toBeGreaterThan(statementSeconds);
    expect(numberOf('firsthand_commit_statement_duration_seconds_count')).toBe(
      numberOf('firsthand_commit_duration_seconds_count'),
    );
    expect(numberOf('firsthand_store_bytes')).toBeGreaterThan(100_000);
    expect(numberOf('firsthand_disk_free_bytes')).toBeGreaterThan(0);
    expect(numberOf('firsthand_queue_bytes')).toBe(0);
    expect(numberOf('firsthand_queue_calls')).toBe(0);
    expect(numberOf('firsthand_requests_under_way')).toBe(1);
    expect(numberOf('firsthand_streams_open')).toBe(0);
    // Checks what `promtool check metrics` requires.
    for (const [name, type] of types) expect([name, /_total$/.test(name)]).toEqual([name, type === 'counter']);
    // Checks that buckets are cumulative.
    for (const [name, type] of types) {
      if (type !== 'histogram') continue;
      const bucketSamples = samples.filter((sample) => sample.name === `${name}_bucket`);
      const groupOf = ({ labels }: Sample) => JSON.stringify({ ...labels, le: '' });
      for (const group of new Set(bucketSamples.map(groupOf))) {
        const buckets = bucketSamples.filter((sample) => groupOf(sample) === group);
        const values = buckets.map(({ value }) => value);
        expect(values).toEqual(values.toSorted((one, other) => one - other));
        expect(buckets.at(-1)?.labels.le).toBe('+Inf');
      }
    }
    const ownPort = await scrape(metricsURL, {});
    expect([...ownPort.types.keys()]).toEqual([...types.keys()]);
    for (const path of ['/', '/healthz', '/metrics/x']) expect((await fetch(metricsURL + path)).status).toBe(404);
    expect((await fetch(`${metricsURL}/metrics`, { method: 'POST' })).status).toBe(404);
  });

  it('have no label whose value a client can choose', async () => {
    const { url } = await busyServer();
    await fetch(`${url}/logEvent`, { method: 'BREW' }).catch(() => {});
    const { samples } = await scrape(url);
    const allowedValues = {
      operation: [...operationNames, 'healthz', 'readyz', 'openapi', 'tracker', 'metrics', 'other', 'unknown'],
      code: Object.keys(errors),
    };
    for (const { name, labels } of samples.filter(({ name }) => name.startsWith('firsthand_'))) {
      for (const [label, value] of Object.entries(labels)) {
        if (label === 'le') continue;
        expect([
          name,
          label,
          label === 'status' ? /^\d{3}$/.test(value) : allowedValues[label as 'code']?.includes(value),
        ]).toEqual([name, label, true]);
      }
    }
  });

  it('respond like an unknown path to a request without their token', async () => {
    const { url } = await serveHere({ METRICS_TOKEN: token });
    const { url: without } = await serveHere();
    const readResponse = async (root: string, path: string, init: RequestInit = {}) => {
      const response = await fetch(root + path, init);
      const { requestID: _, ...body } = (await response.json()) as { requestID: string };
      const headers = Object.fromEntries(response.headers);
      return { body, status: response.status, headers: { ...headers, date: '', 'x-request-id': '' } };
    };
    const unknown = await readResponse(url, '/nothing');
    expect(unknown.status).toBe(404);
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      for (const authorization of [
        '',
        'Bearer',
        `Bearer ${token}x`,
        `Bearer ${token.slice(1)}`,
        `Basic ${token}`,
        token,
      ]) {
        expect(await readResponse(url, '/metrics', { method, headers: { Authorization: authorization } })).toEqual(
          unknown,
        );
      }
    }
    expect(await readResponse(url, `/metrics?tokenUUID=${token}`)).toEqual(unknown);
    expect(await readResponse(without, '/metrics', { headers: { Authorization: `Bearer ${token}` } })).toEqual(unknown);
    expect(
      (await fetch(`${url}/metrics`, { method: 'POST', headers: { Authorization: `Bearer ${token}` } })).status,
    ).toBe(405);
  });

  it('omit the store’s metrics if the store is unreachable', async () => {
    const measure = () => Promise.reject(new Error('gone'));
    const read = createMetrics({ store: { measure }, traffic: createTraffic(), newestBackup: () => undefined });
    const { samples } = parse(await read());
    expect(samples.filter(({ name }) => /^firsthand_(store|queue|commit|backup)/.test(name))).toEqual([]);
    expect(samples).toContainEqual({ name: 'firsthand_events_kept_total', labels: {}, value: 0 });
  });

  it('include the newest backup’s age, if there is one', async () => {
    const store = { measure: async () => ({ waitingBytes: 1, waitingCalls: 2, storedBytes: 3, freeBytes: 4 }) };
    const read = createMetrics({ store, traffic: createTraffic(), newestBackup: () => 5_000, now: () => 12_000 });
    const { samples } = parse(await read());
    for (const [name, value] of [
      ['backup_age_seconds', 7],
      ['queue_bytes', 1],
      ['queue_calls', 2],
      ['store_bytes', 3],
      ['disk_free_bytes', 4],
    ] as const) {
      expect(samples).toContainEqual({ name: `firsthand_${name}`, labels: {}, value });
    }
  });

  it('include the state of reports, if the server runs them', async () => {
    const measure = () => Promise.reject(new Error('gone'));
    const sources = { store: { measure }, traffic: createTraffic(), newestBackup: () => undefined };
    const measureReports = async (processID: number | undefined) => {
      const reports = { measure: () => ({ underWay: 2, starts: 3, faults: 1, processID }) };
      const { samples } = parse(await createMetrics({ ...sources, reports })());
      return new Map(
        samples.filter(({ name }) => /^firsthand_report/.test(name)).map(({ name, value }) => [name, value]),
      );
    };
    const values = await measureReports(process.pid);
    const bytes = values.get('firsthand_report_process_bytes');
    if (process.platform === 'linux') expect(bytes).toBeGreaterThan(20_000_000);
    values.delete('firsthand_report_process_bytes');
    const counters = new Map([
      ['firsthand_reports_under_way', 2],
      ['firsthand_report_faults_total', 1],
      ['firsthand_report_processes_started_total', 3],
    ]);
    expect(values).toEqual(counters);
    expect(await measureReports(undefined)).toEqual(counters);
  });

  it('include every metric that the dashboard and the alerts use', async () => {
    const { url } = await busyServer();
    const { samples, types } = await scrape(url);
    const names = new Set([...types.keys(), ...samples.map(({ name }) => name)]);
    for (const file of ['dashboard.json', 'alerts.yml']) {
      const text = readFileSync(new URL(`../deploy/metrics/${file}`, import.meta.url), 'utf8');
      const usedNames = [...text.matchAll(/\b(?:firsthand|nodejs|process)_\w+/g)].map(([name]) => name);
      expect(usedNames.length).toBeGreaterThan(3);
      expect(usedNames.filter((name) => !names.has(name))).toEqual([]);
    }
  });
});
