/** The metrics of a server, for Prometheus: the only file that knows prom-client. They name no account, user or address. */
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
import { listen } from './listening.ts';

type Labels = Readonly<Record<string, string | number>>;
interface Sample {
  readonly value: number;
  readonly labels?: Labels;
  /** If it is not the metric's. */
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

/** Of a process, by proc_pid_status(5); undefined where there is none. */
const residentBytes = async (processID: number): Promise<number | undefined> => {
  const status = await readFile(`/proc/${processID}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
};

interface MetricsSources {
  readonly store: Pick<Store, 'measure'>;
  readonly traffic: Traffic;
  /** When the newest scheduled backup was made, in milliseconds since 1970. */
  readonly newestBackup: () => number | undefined;
  /** Undefined when another engine answers reports. */
  readonly reports?: { measure(): ReportsMeasures } | undefined;
  readonly now?: () => number;
}

/**
 * Returns a function that writes all metrics. They are collected then, from plain numbers: a metric of prom-client would cost each event
 * more than all else that is counted of it.
 */
export const createMetrics = ({ store, traffic, newestBackup, reports, now = Date.now }: MetricsSources) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges with the suffix of a counter, which `promtool check metrics` rejects.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  const { numbers, operations, refused } = traffic;

  const add = (type: `${MetricType}`, name: string, help: string, collect: () => Sample[] | Promise<Sample[]>) => {
    // The registry needs no more of a metric than this.
    const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: await collect() }) };
    registry.registerMetric(metric as unknown as Metric);
  };
  const addNumber = (type: 'counter' | 'gauge', name: string, help: string, read: () => number | undefined) =>
    add(type, name, help, () => {
      const value = read();
      return value === undefined ? [] : [{ value }];
    });

  addNumber('counter', 'firsthand_events_kept_total', 'Events stored.', () => numbers.kept);
  addNumber('counter', 'firsthand_events_duplicate_total', 'Repeated events.', () => numbers.duplicates);
  add('counter', 'firsthand_refused_total', 'Refused requests and entries of logEvents, by error code.', () =>
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
  addNumber('gauge', 'firsthand_requests_under_way', 'Requests without a response yet.', () => numbers.underWay);
  addNumber('gauge', 'firsthand_streams_open', 'Open streams of streamEvents.', () => numbers.streams);
  addNumber(
    'gauge',
    'firsthand_backup_age_seconds',
    'Age of the newest scheduled backup; time since the start while there is none.',
    () => {
      const newest = newestBackup();
      return newest === undefined ? undefined : (now() - newest) / 1_000;
    },
  );

  if (reports !== undefined) {
    const { measure } = reports;
    addNumber('gauge', 'firsthand_reports_under_way', 'Reports that are answered or wait.', () => measure().underWay);
    addNumber('counter', 'firsthand_report_faults_total', 'Failures of the engine of reports.', () => measure().faults);
    const started = 'Processes that were started for reports. Each ends when it is not used.';
    addNumber('counter', 'firsthand_report_processes_started_total', started, () => measure().starts);
    add('gauge', 'firsthand_report_process_bytes', 'Resident memory of the process of reports; on Linux.', async () => {
      const { processID } = measure();
      const bytes = processID === undefined ? undefined : await residentBytes(processID);
      return bytes === undefined ? [] : [{ value: bytes }];
    });
  }

  let measured: ReturnType<Store['measure']> = store.measure();
  measured.catch(() => {});
  const ofStore = (read: (measures: Awaited<typeof measured>) => Sample[]) => async () => {
    // A database that can't be reached is seen by /readyz. The other metrics are served all the same.
    const measures = await measured.catch(() => undefined);
    return measures === undefined ? [] : read(measures);
  };
  const addOfStore = (name: string, help: string, read: (measures: Awaited<typeof measured>) => number) =>
    add(
      'gauge',
      name,
      help,
      ofStore((measures) => [{ value: read(measures) }]),
    );
  addOfStore('firsthand_store_bytes', 'Size of the database.', ({ storedBytes }) => storedBytes);
  add(
    'gauge',
    'firsthand_disk_free_bytes',
    'Room on the disk of a SQLite file.',
    ofStore(({ freeBytes }) => (freeBytes === undefined ? [] : [{ value: freeBytes }])),
  );
  addOfStore('firsthand_queue_bytes', 'Memory of the calls that wait for the store.', (found) => found.waitingBytes);
  addOfStore('firsthand_queue_calls', 'Calls that wait for the store.', (found) => found.waitingCalls);
  for (const [name, help, which] of [
    ['firsthand_commit_events', 'Events in a commit. PostgreSQL: in those that store events.', 'events'],
    ['firsthand_commit_duration_seconds', 'Time of a commit, its sync included.', 'seconds'],
    [
      'firsthand_commit_statement_duration_seconds',
      'Time of COMMIT alone, which writes the write-ahead log and syncs it. PostgreSQL: round trip included.',
      'statementSeconds',
    ],
  ] as const) {
    add(
      'histogram',
      name,
      help,
      ofStore(({ commits }) => (commits ? samplesOf(name, commits[which]) : [])),
    );
  }

  return (): Promise<string> => {
    measured = store.measure();
    measured.catch(() => {});
    return registry.metrics();
  };
};

/** A server for /metrics alone. A scrape is one request, so it takes few connections, and not for long. */
const createMetricsServer = (read: () => Promise<string>): Server => {
  const options = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 65_000, maxHeaderSize: 8 * 1_024 };
  const server = createServer(options, async (request, response) => {
    const isAsked = request.method === 'GET' && request.url?.split('?')[0] === '/metrics';
    if (!isAsked) return void response.writeHead(404).end();
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
  /** For the public port; undefined without a token. */
  readonly access: MetricsAccess | undefined;
  stop(): Promise<void>;
}

/** Serves the metrics on their own port, if there is one. Throws CannotListen. */
export const serveMetrics = async ({ config, log, ...sources }: MetricsOptions): Promise<ServedMetrics> => {
  const { host, metricsToken: token, metricsPort: port } = config;
  const read = createMetrics(sources);
  const access = token === undefined ? undefined : { token, read };
  if (port === undefined) return { access, stop: async () => {} };
  const server = createMetricsServer(read);
  await listen(server, { host, port, setting: 'METRICS_PORT', log });
  log.info({ host, port: (server.address() as AddressInfo).port }, 'metrics are served');
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { access, stop };
};
