/**
 * Sends one message. Connects only to allowed addresses, and to exactly the address that was checked, so that a name
 * server cannot return a different one in the meantime. Does not follow redirects.
 */
import { type LookupAddress, lookup as lookupHost } from 'node:dns';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { limits } from '@firsthand/contract/limits';
import { version } from '../../shared/version.ts';
import { createConnectionCheck } from './public-addresses.ts';

export interface Attempt {
  readonly succeeded: boolean;
  /** Null: no response. */
  readonly httpStatus: number | null;
  /** Why the attempt failed; '' if it succeeded. */
  readonly error: string;
  /** The beginning of the response. */
  readonly response: string;
  readonly retryAfterSeconds?: number | undefined;
}

export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal?: AbortSignal | undefined;
}

export type Send = (request: Request) => Promise<Attempt>;

export interface Sender {
  readonly send: Send;
  /** Returns why no message can be sent to this URL, as far as can be known without resolving its host. */
  readonly findProblem: (url: string) => string | undefined;
  /** Closes idle connections. */
  readonly close: () => void;
}

interface SenderOptions {
  /** Private networks to which messages may be sent, even without TLS. */
  readonly allow?: readonly string[] | undefined;
  readonly timeoutMilliseconds?: number;
  readonly lookup?: typeof lookupHost;
  /** Additional certificate authorities, as PEM. */
  readonly ca?: string;
}

/**
 * How long a connection without requests stays open. The number of concurrent messages limits the connections in use.
 */
const idleMilliseconds = 5_000;

const maxResponseBytes = 1_024;

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const parseRetryAfter = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const time = Date.parse(header);
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1_000));
};

/** Removes NUL characters, which PostgreSQL cannot store. */
const toStoredText = (bytes: Buffer): string =>
  bytes.toString('utf8').replaceAll('\0', '').toWellFormed().slice(0, limits.webhookResponseLength);

/** Reads the beginning of a response. A failure or timeout after that does not change the outcome. */
const readBeginning = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Leaving the loop closes the connection.
      if (bytes >= maxResponseBytes) break;
    }
  } catch {}
  return toStoredText(Buffer.concat(chunks).subarray(0, maxResponseBytes));
};

const toAttempt = (httpStatus: number, response: string, headers: IncomingMessage['headers']): Attempt => {
  const succeeded = httpStatus >= 200 && httpStatus < 300;
  const isRedirect = httpStatus >= 300 && httpStatus < 400;
  const error = succeeded ? '' : isRedirect ? `HTTP ${httpStatus}: redirects are not followed` : `HTTP ${httpStatus}`;
  return { succeeded, httpStatus, error, response, retryAfterSeconds: parseRetryAfter(headers['retry-after']) };
};

export const createSender = ({
  allow = [],
  timeoutMilliseconds = 15_000,
  lookup = lookupHost,
  ca,
}: SenderOptions): Sender => {
  const mayConnect = createConnectionCheck(allow);
  const refusal = (address: string, hasTLS: boolean): string | undefined => {
    if (mayConnect(address, hasTLS)) return undefined;
    return hasTLS
      ? `${address} is not a public address, and not in the setting WEBHOOK_ALLOW`
      : `${address} is not in the setting WEBHOOK_ALLOW, so the URL must begin with https`;
  };

  const refusedHost = (host: string, hasTLS: boolean): string =>
    hasTLS
      ? `${host} has an address that is neither public nor in the setting WEBHOOK_ALLOW`
      : `${host} has an address that is not in the setting WEBHOOK_ALLOW, so the URL must begin with https`;

  /** Resolves a host, and fails if one of its addresses is not allowed. */
  const createLookup =
    (hasTLS: boolean): LookupFunction =>
    (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        // Omits the address, so that nobody can resolve internal network names.
        const isRefused = addresses?.some(({ address }) => refusal(address, hasTLS) !== undefined);
        const unresolved = error?.code === 'ENOTFOUND' ? `no server has the name ${hostname}` : error?.message;
        const problem = unresolved ?? (isRefused ? refusedHost(hostname, hasTLS) : undefined);
        const [first] = addresses ?? [];
        if (problem !== undefined || !first) return callback(new Error(problem ?? `${hostname} has no address`), '', 0);
        if (options.all) return callback(null, addresses);
        return callback(null, first.address, first.family);
      });
    };

  const common = { keepAlive: true, timeout: idleMilliseconds };
  const agents = {
    http: new HttpAgent({ ...common, lookup: createLookup(false) }),
    https: new HttpsAgent({ ...common, lookup: createLookup(true), ca }),
  };

  const findProblem = (text: string): string | undefined => {
    const url = new URL(text);
    const host = hostOf(url);
    const hasTLS = url.protocol === 'https:';
    // Node resolves only host names, so an IP address in the URL is checked here.
    if (isIP(host) !== 0) return refusal(host, hasTLS);
    return hasTLS || allow.length > 0 ? undefined : 'the URL must begin with https';
  };

  const send: Send = ({ url: text, headers, body, signal }) =>
    new Promise((resolve) => {
      let hasResponse = false;
      /** Has no effect once a response has started or the attempt has failed. */
      const fail = (error: string) => {
        if (hasResponse) return;
        clearTimeout(timeout);
        resolve({ succeeded: false, httpStatus: null, error, response: '' });
      };
      let timeout: NodeJS.Timeout | undefined;
      const problem = findProblem(text);
      if (problem !== undefined) return fail(problem);
      const url = new URL(text);
      const hasTLS = url.protocol === 'https:';
      const request = (hasTLS ? requestHttps : requestHttp)(url, {
        method: 'POST',
        agent: hasTLS ? agents.https : agents.http,
        signal,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'User-Agent': `Firsthand-Webhooks/${version}`,
          ...headers,
        },
      });
      timeout = setTimeout(() => {
        fail(`no response within ${timeoutMilliseconds / 1_000} s`);
        request.destroy();
      }, timeoutMilliseconds);
      // If all of a host's addresses fail, the message is empty.
      request.on('error', (error) => fail(error.message || String((error as NodeJS.ErrnoException).code)));
      // Closed without an error, for example after 101 Switching Protocols.
      request.on('close', () => fail('the connection was closed'));
      request.on('response', async (response) => {
        hasResponse = true;
        const beginning = await readBeginning(response);
        clearTimeout(timeout);
        resolve(toAttempt(response.statusCode as number, beginning, response.headers));
      });
      request.end(body);
    });

  return {
    send,
    findProblem,
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
};
