/**
 * A server's Prometheus metrics; the only file that imports prom-client. No label identifies an account, user or
 * address.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { collectDefaultMetrics, type Metric, type MetricType, Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { type MetricsAccess, metricsType } from '../http/metrics.ts';
import type { Traffic } from '../http/traffic.ts';
import type { ReportsMeasures } from '../reports/reports.ts';
import type { Distribution } from '../shared/distribution.ts';
import type { Store } from '../store/store.ts';
import { listen } from './listen.ts';

type Labels = Readonly<Record<string, string | number>>;
interface Sample {
  readonly value: number;
  readonly labels?: Labels;
  /** By default, the metric's own name. */
  readonly metricName?: string;
}

const samplesOf = (name: string, { bounds, counts, sum }: Distribution, labels: Labels = {}): Sample[] => {
  let count = 0;
  const buckets = counts.map((each, index) => {
    count += each;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
};

/** See proc_pid_status(5); undefined on systems without /proc. */
const readResidentBytes = async (processID: number): Promise<number | undefined> => {
  const status = await readFile(`/proc/${processID}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
};

interface MetricsSources {
  readonly store: Pick<Store, 'measure'>;
  readonly traffic: Traffic;
  /** The time of the newest scheduled backup, in milliseconds since 1970. */
  readonly newestBackup: () => number | undefined;
  /** Undefined if reports are not computed by the report process. */
  readonly reports?: { measure(): ReportsMeasures } | undefined;
  readonly now?: () => number;
}

const createRegistration = (registry: Registry) => {
  const add = (type: `${MetricType}`, name: string, help: string, collect: () => Sample[] | Promise<Sample[]>) => {
    // The only part of prom-client's Metric that the registry uses.
    const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: await collect() }) };
    registry.registerMetric(metric as unknown as Metric);
  };
  const addNumber = (type: 'counter' | 'gauge', name: string, help: string, read: () => number | undefined) =>
    add(type, name, help, () => {
      const value = read();
      return value === undefined ? [] : [{ value }];
    });
  return { add, addNumber };
};
type Registration = ReturnType<typeof createRegistration>;

const addTrafficMetrics = ({ add, addNumber }: Registration, { numbers, operations, refused }: Traffic): void => {
  addNumber('counter', 'firsthand_events_kept_total', 'Events stored.', () => numbers.kept);
  addNumber('counter', 'firsthand_events_duplicate_total', 'Duplicate events.', () => numbers.duplicates);
  add('counter', 'firsthand_refused_total', 'Refused requests and logEvents entries, by error code.', () =>
    [...refused].map(([code, value]) => ({ labels: { code }, value })),
  );
  add('counter', 'firsthand_requests_total', 'Responses, by operation and HTTP status.', () =>
    [...operations].flatMap(([operation, { statuses }]) =>
      [...statuses].map(([status, value]) => ({ labels: { operation, status }, value })),
    ),
  );
  const durations = 'firsthand_request_duration_seconds';
  add('histogram', durations, 'Time from a request to its response, by operation.', () =>
    [...operations]
      .filter(([, { statuses }]) => statuses.size > 0)
      .flatMap(([operation, { seconds }]) => samplesOf(durations, seconds, { operation })),
  );
  addNumber('gauge', 'firsthand_requests_under_way', 'Requests in progress.', () => numbers.underWay);
  addNumber('gauge', 'firsthand_streams_open', 'Open streamEvents streams.', () => numbers.streams);
};

const addReportMetrics = (
  { add, addNumber }: Registration,
  measure: NonNullable<MetricsSources['reports']>['measure'],
): void => {
  addNumber('gauge', 'firsthand_reports_under_way', 'Reports running or queued.', () => measure().underWay);
  addNumber('counter', 'firsthand_report_faults_total', 'Failures of the report engine.', () => measure().faults);
  const startsHelp = 'Report processes started. A process exits when idle.';
  addNumber('counter', 'firsthand_report_processes_started_total', startsHelp, () => measure().starts);
  add('gauge', 'firsthand_report_process_bytes', 'Resident memory of the report process (Linux only).', async () => {
    const { processID } = measure();
    const bytes = processID === undefined ? undefined : await readResidentBytes(processID);
    return bytes === undefined ? [] : [{ value: bytes }];
  });
};

/** Returns a function that measures the store again. */
const addStoreMetrics = ({ add }: Registration, store: MetricsSources['store']): (() => void) => {
  let storeMeasures: ReturnType<Store['measure']> = store.measure();
  storeMeasures.catch(() => {});
  const fromStore = (read: (measures: Awaited<typeof storeMeasures>) => Sample[]) => async () => {
    // /readyz reports an unreachable database; the other metrics are still served.
    const measures = await storeMeasures.catch(() => undefined);
    return measures === undefined ? [] : read(measures);
  };
  const addStoreGauge = (name: string, help: string, read: (measures: Awaited<typeof storeMeasures>) => number) =>
    add(
      'gauge',
      name,
      help,
      fromStore((measures) => [{ value: read(measures) }]),
    );
  addStoreGauge('firsthand_store_bytes', 'Size of the database.', ({ storedBytes }) => storedBytes);
  add(
    'gauge',
    'firsthand_disk_free_bytes',
    'Free space on the disk of the SQLite file.',
    fromStore(({ freeBytes }) => (freeBytes === undefined ? [] : [{ value: freeBytes }])),
  );
  addStoreGauge(
    'firsthand_queue_bytes',
    'Memory held by calls waiting for the store.',
    ({ waitingBytes }) => waitingBytes,
  );
  addStoreGauge('firsthand_queue_calls', 'Calls waiting for the store.', ({ waitingCalls }) => waitingCalls);
  for (const [name, help, distribution] of [
    ['firsthand_commit_events', 'Events per commit. PostgreSQL: only commits that store events.', 'events'],
    ['firsthand_commit_duration_seconds', 'Duration of a commit, including its sync.', 'seconds'],
    [
      'firsthand_commit_statement_duration_seconds',
      'Duration of COMMIT alone, which writes and syncs the write-ahead log. PostgreSQL: includes the round trip.',
      'statementSeconds',
    ],
  ] as const) {
    add(
      'histogram',
      name,
      help,
      fromStore(({ commits }) => (commits ? samplesOf(name, commits[distribution]) : [])),
    );
  }
  return () => {
    storeMeasures = store.measure();
    storeMeasures.catch(() => {});
  };
};

/**
 * Returns a function that renders all metrics, collected from plain numbers at that moment. Updating prom-client
 * metrics for every event would cost more than all other accounting.
 */
export const createMetrics = ({ store, traffic, newestBackup, reports, now = Date.now }: MetricsSources) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // These are gauges with a counter's suffix, which `promtool check metrics` rejects.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  const registration = createRegistration(registry);
  addTrafficMetrics(registration, traffic);
  registration.addNumber(
    'gauge',
    'firsthand_backup_age_seconds',
    'Age of the newest scheduled backup; time since startup if there is none.',
    () => {
      const newest = newestBackup();
      return newest === undefined ? undefined : (now() - newest) / 1_000;
    },
  );
  if (reports !== undefined) addReportMetrics(registration, reports.measure);
  const measureStore = addStoreMetrics(registration, store);
  return (): Promise<string> => {
    measureStore();
    return registry.metrics();
  };
};

/** A server that serves only /metrics. A scrape is one request, so a few short connections suffice. */
const createMetricsServer = (read: () => Promise<string>): Server => {
  const options = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 65_000, maxHeaderSize: 8 * 1_024 };
  const server = createServer(options, async (request, response) => {
    const isScrape = request.method === 'GET' && request.url?.split('?')[0] === '/metrics';
    if (!isScrape) return void response.writeHead(404).end();
    try {
      const text = await read();
      response.writeHead(200, { 'Content-Type': metricsType, 'Cache-Control': 'no-store' }).end(text);
    } catch {
      response.writeHead(503).end();
    }
  });
  server.maxConnections = 20;
  return server;
};

interface MetricsOptions extends MetricsSources {
  readonly config: Pick<Config, 'host' | 'metricsToken' | 'metricsPort'>;
  readonly log: Logger;
}

interface ServedMetrics {
  /** Access to /metrics on the public port; undefined without a token. */
  readonly access: MetricsAccess | undefined;
  stop(): Promise<void>;
}

/** Serves the metrics on METRICS_PORT if it is set. Throws CannotListen. */
export const serveMetrics = async ({ config, log, ...sources }: MetricsOptions): Promise<ServedMetrics> => {
  const { host, metricsToken: token, metricsPort: port } = config;
  const read = createMetrics(sources);
  const access = token === undefined ? undefined : { token, read };
  if (port === undefined) return { access, stop: async () => {} };
  const server = createMetricsServer(read);
  await listen(server, { host, port, setting: 'METRICS_PORT', log });
  log.info({ host, port: (server.address() as AddressInfo).port }, 'serving metrics');
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { access, stop };
};
