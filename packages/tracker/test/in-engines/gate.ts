/** What lies between a page and the server and can go wrong: passes requests on, or is gone, or busy, or loses an answer. */
import {
  createServer,
  type IncomingMessage,
  request as requestFrom,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Gate {
  readonly url: string;
  /** Answers 503 to everything while true, as the server does when its store can't keep up. */
  isBusy: boolean;
  /** Nobody listens from here on; requests under way are cut off. */
  down(): Promise<void>;
  /** Listens again, on the same port. */
  up(): Promise<void>;
  /** The next POST takes this long to the server; what comes after it does not. */
  delayNext(milliseconds: number): void;
  /**
   * Does this to the next POST: once the server has been sent it, or once the server has answered it. Whatever comes of
   * it, the page's connection is cut off without an answer.
   */
  breakNext(when: 'sent' | 'answered', how: () => Promise<unknown>): void;
}

const answerBusy = (response: ServerResponse): void => {
  response
    .writeHead(503, {
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'Retry-After, X-Request-Id',
      'retry-after': '1',
    })
    .end('{"error":{"code":"not_kept","message":"busy"},"status":"503"}');
};

export const openGate = async (serverPort: number): Promise<Gate> => {
  let server: Server;
  let port = 0;
  let broken: { when: 'sent' | 'answered'; how: () => Promise<unknown> } | undefined;

  let delayMilliseconds = 0;

  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const breaking = request.method === 'POST' ? broken : undefined;
    if (breaking) broken = undefined;
    const { method, headers, url: path } = request;
    const onwards = requestFrom({ host: '127.0.0.1', port: serverPort, method, headers, path, agent: false });
    const cutOff = () => response.destroy();
    const doBreak = () => breaking?.how().finally(cutOff);
    onwards.on('error', cutOff);
    onwards.on('response', (answer) => {
      if (breaking?.when === 'answered') doBreak();
      if (breaking) return;
      answer.on('error', cutOff);
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    if (breaking?.when === 'sent') onwards.on('finish', doBreak);
    const delay = request.method === 'POST' ? delayMilliseconds : 0;
    delayMilliseconds -= delay;
    setTimeout(() => request.pipe(onwards), delay);
  };

  const up = async (): Promise<void> => {
    server = createServer((request, response) => {
      if (gate.isBusy) request.resume().on('end', () => answerBusy(response));
      else pass(request, response);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await up();

  const gate: Gate = {
    url: `http://127.0.0.1:${port}`,
    isBusy: false,
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    up,
    delayNext: (milliseconds) => {
      delayMilliseconds = milliseconds;
    },
    breakNext: (when, how) => {
      broken = { when, how };
    },
  };
  return gate;
};
