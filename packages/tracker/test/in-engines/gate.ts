/**
 * Opens a proxy between a page and the server, which forwards requests and can simulate failures: it is down, is busy,
 * or loses a response.
 */
import {
  createServer,
  type IncomingMessage,
  request as requestFrom,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A response from another server, such as a gateway or the site's own server. */
export interface ForeignResponse {
  readonly status: number;
  readonly body: string;
}

export interface Gate {
  readonly url: string;
  /** The requests so far, such as `POST /update`. */
  readonly requests: string[];
  /** The requests rejected because the gate was busy, such as `POST /update`. */
  readonly rejectedRequests: string[];
  /** If true, responds with 503 to each POST, as the server does when its store can't keep up. Other requests pass. */
  isBusy: boolean;
  /** The next POSTs get these responses, in this order, and don't reach the server. */
  readonly foreignResponses: ForeignResponse[];
  /** Stops listening, and cuts off requests in flight. */
  down(): Promise<void>;
  /** Listens again, on the same port. */
  up(): Promise<void>;
  /** Delays only the next POST on its way to the server. */
  delayNext(milliseconds: number): void;
  /** Reads the next POST, and never responds to it. */
  hangNext(): void;
  /**
   * Runs `action` when the last of the next `count` POSTs is sent to the server, or when the server has responded to
   * it. None of these POSTs gets a response. Resolves when all are cut off.
   */
  breakNext(count: number, when: 'sent' | 'answered', action: () => Promise<unknown>): Promise<void>;
}

const sendBusy = (response: ServerResponse): void => {
  response
    .writeHead(503, {
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'Retry-After, X-Request-Id',
      'retry-after': '1',
    })
    .end('{"error":{"code":"unavailable","message":"busy"},"status":"503"}');
};

export const openGate = async (serverPort: number): Promise<Gate> => {
  let server: Server;
  let port = 0;
  let breakCount = 0;
  let onBreakpoint: ((when: 'sent' | 'answered', cutOff: () => void) => void) | undefined;
  let delayMilliseconds = 0;
  let isHanging = false;

  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, headers, url: path } = request;
    gate.requests.push(`${method} ${path}`);
    const foreign = method === 'POST' && gate.foreignResponses.shift();
    if (foreign) {
      const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' };
      request.resume().on('end', () => response.writeHead(foreign.status, headers).end(foreign.body));
      return;
    }
    if (isHanging && method === 'POST') {
      isHanging = false;
      request.resume();
      return;
    }
    const isBroken = method === 'POST' && breakCount > 0;
    if (isBroken) breakCount--;
    const forwarded = requestFrom({ host: '127.0.0.1', port: serverPort, method, headers, path, agent: false });
    const cutOff = () => response.destroy();
    forwarded.on('error', () => isBroken || cutOff());
    forwarded.on('response', (incoming) => {
      incoming.on('error', cutOff);
      if (isBroken) return onBreakpoint?.('answered', cutOff);
      response.writeHead(incoming.statusCode ?? 500, incoming.headers);
      incoming.pipe(response);
    });
    if (isBroken) forwarded.on('finish', () => onBreakpoint?.('sent', cutOff));
    const delay = request.method === 'POST' ? delayMilliseconds : 0;
    delayMilliseconds -= delay;
    setTimeout(() => request.pipe(forwarded), delay);
  };

  const up = async (): Promise<void> => {
    server = createServer((request, response) => {
      const { method, url: path } = request;
      if (!gate.isBusy || method !== 'POST') return forward(request, response);
      gate.rejectedRequests.push(`${method} ${path}`);
      request.resume().on('end', () => sendBusy(response));
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await up();

  const gate: Gate = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    rejectedRequests: [],
    isBusy: false,
    foreignResponses: [],
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    up,
    delayNext: (milliseconds) => {
      delayMilliseconds = milliseconds;
    },
    hangNext: () => {
      isHanging = true;
    },
    breakNext: (count, when, action) =>
      new Promise((resolve, reject) => {
        const cutOffs: (() => void)[] = [];
        breakCount = count;
        onBreakpoint = (stage, cutOff) => {
          if (stage !== when || cutOffs.push(cutOff) < count) return;
          action().then(() => {
            for (const each of cutOffs) each();
            resolve();
          }, reject);
        };
      }),
  };
  return gate;
};
