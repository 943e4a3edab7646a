/** What lies between a page and the server and can go wrong: passes requests on, or is gone, or busy, or loses an answer. */
import {
  createServer,
  type IncomingMessage,
  request as requestFrom,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A response of something else than the service: a gateway, or the site's own server without its path to the service. */
export interface ForeignResponse {
  readonly status: number;
  readonly body: string;
}

export interface Gate {
  readonly url: string;
  /** What has come through so far: `POST /update`. */
  readonly requests: string[];
  /** The requests that were refused because it was busy: `POST /update`. */
  readonly refused: string[];
  /** Answers 503 to each POST while true, as the server does when its store can't keep up. All else passes. */
  isBusy: boolean;
  /** The next POSTs get these responses, in this order, and do not reach the server. */
  readonly foreign: ForeignResponse[];
  /** Nobody listens from here on; requests under way are cut off. */
  down(): Promise<void>;
  /** Listens again, on the same port. */
  up(): Promise<void>;
  /** The next POST takes this long to the server; what comes after it does not. */
  delayNext(milliseconds: number): void;
  /** The next POST is read, and never answered. */
  forgetNext(): void;
  /**
   * Does this once to the next so many POSTs: when the server has been sent the last of them, or has answered the last of
   * them. Whatever comes of it, none of them gets an answer. Resolves when all are cut off.
   */
  breakNext(count: number, when: 'sent' | 'answered', how: () => Promise<unknown>): Promise<void>;
}

const answerBusy = (response: ServerResponse): void => {
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
  let toBreak = 0;
  let breaking: ((when: 'sent' | 'answered', cutOff: () => void) => void) | undefined;
  let delayMilliseconds = 0;
  let isForgetful = false;

  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, headers, url: path } = request;
    gate.requests.push(`${method} ${path}`);
    const foreign = method === 'POST' && gate.foreign.shift();
    if (foreign) {
      const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' };
      request.resume().on('end', () => response.writeHead(foreign.status, headers).end(foreign.body));
      return;
    }
    if (isForgetful && method === 'POST') {
      isForgetful = false;
      request.resume();
      return;
    }
    const isBroken = method === 'POST' && toBreak > 0;
    if (isBroken) toBreak--;
    const onwards = requestFrom({ host: '127.0.0.1', port: serverPort, method, headers, path, agent: false });
    const cutOff = () => response.destroy();
    onwards.on('error', () => isBroken || cutOff());
    onwards.on('response', (answer) => {
      answer.on('error', cutOff);
      if (isBroken) return breaking?.('answered', cutOff);
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    if (isBroken) onwards.on('finish', () => breaking?.('sent', cutOff));
    const delay = request.method === 'POST' ? delayMilliseconds : 0;
    delayMilliseconds -= delay;
    setTimeout(() => request.pipe(onwards), delay);
  };

  const up = async (): Promise<void> => {
    server = createServer((request, response) => {
      const { method, url: path } = request;
      if (!gate.isBusy || method !== 'POST') return pass(request, response);
      gate.refused.push(`${method} ${path}`);
      request.resume().on('end', () => answerBusy(response));
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await up();

  const gate: Gate = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    refused: [],
    isBusy: false,
    foreign: [],
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    up,
    delayNext: (milliseconds) => {
      delayMilliseconds = milliseconds;
    },
    forgetNext: () => {
      isForgetful = true;
    },
    breakNext: (count, when, how) =>
      new Promise((resolve, reject) => {
        const cutOffs: (() => void)[] = [];
        toBreak = count;
        breaking = (what, cutOff) => {
          if (what !== when || cutOffs.push(cutOff) < count) return;
          how().then(() => {
            for (const each of cutOffs) each();
            resolve();
          }, reject);
        };
      }),
  };
  return gate;
};
