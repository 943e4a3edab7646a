/** A test double for the service, which records its requests. It also serves a site's pages. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { snippet } from '../src/snippet.ts';

export type SentEvent = {
  eventID: number;
  eventName?: string;
  eventUUID: string;
  eventTime: number;
  userUUID?: string;
  eventAttrArray?: { attrID: string; attrValue: string }[];
};

type SentBody = Record<string, unknown> & { userUUID: string; event?: SentEvent[] };

type ReceivedRequest = {
  path: string;
  method: string;
  headers: IncomingMessage['headers'];
  bytes: number;
  body: SentBody;
};

/** The response to send instead of the default; undefined for the default. */
export type RecordedResponse = { status: number; headers?: Record<string, string>; body?: unknown } | undefined;

export type Recorder = {
  port: number;
  requests: ReceivedRequest[];
  /** Every event received, with its user, in order of arrival, including duplicates. */
  events(): (SentEvent & { user: string })[];
  /** The eventIDs received, each event once, in order of eventTime and eventUUID. */
  eventIDs(): number[];
  /** Chooses the response to later requests. If it returns a promise, a request hangs until the promise settles. */
  respond: (request: ReceivedRequest) => RecordedResponse | Promise<RecordedResponse>;
  /** How long the response with the script is delayed. */
  scriptDelayMilliseconds: number;
  /** The site's pages, by path. */
  pages: Record<string, { html: string; headers?: Record<string, string> }>;
  /** Stops the server as a shutdown would; `up` starts it again on the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
};

const defaultResponse = ({ path, body }: ReceivedRequest): RecordedResponse => {
  if (path === '/update')
    return {
      status: 200,
      body: { status: '200', event: body.event?.map(({ eventUUID }) => ({ status: '200', eventUUID })) },
    };
  if (path === '/form') return { status: 200, body: { status: '200', exists: false, contactUUID: 'contact_1' } };
  return { status: 404, body: { status: '404', error: { code: 'not_found', message: 'no such path' } } };
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
};

/** Returns the snippet as a site pastes it, with additional attributes for the script tag. */
export const fillSnippet = (src: string, attributes = '', token = 'browser_test'): string =>
  snippet.replace('{src}', src).replace('"{token}"', `"${token}" ${attributes}`);

/** Opens a recorder that serves the tracker built in `folder`. */
export const openRecorder = async (folder: string): Promise<Recorder> => {
  let server: Server;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url as string, 'http://recorder').pathname;
    const page = recorder.pages[path];
    if (page) {
      response.writeHead(200, { 'content-type': 'text/html', ...page.headers }).end(page.html);
    } else if (/\/tracker(\.full|\.domains)?\.js$/.test(path)) {
      const script = await readFile(join(folder, path.slice(path.lastIndexOf('/'))));
      setTimeout(
        () => response.writeHead(200, { 'content-type': 'text/javascript' }).end(script),
        recorder.scriptDelayMilliseconds,
      );
    } else if (request.method === 'GET') {
      response.writeHead(204).end();
    } else {
      const text = await readBody(request);
      const entry: ReceivedRequest = {
        path,
        method: request.method as string,
        headers: request.headers,
        bytes: Buffer.byteLength(text),
        body: text ? JSON.parse(text) : {},
      };
      recorder.requests.push(entry);
      const recorded = (await recorder.respond(entry)) ?? defaultResponse(entry);
      response
        .writeHead(recorded?.status ?? 500, {
          'content-type': 'application/json',
          'access-control-allow-origin': '*',
          'access-control-expose-headers': 'Retry-After',
          ...recorded?.headers,
        })
        .end(JSON.stringify(recorded?.body ?? { status: `${recorded?.status}` }));
    }
  };

  const up = async (): Promise<void> => {
    server = createServer((request, response) => {
      handle(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(recorder.port, resolve));
    recorder.port = (server.address() as AddressInfo).port;
  };

  const recorder: Recorder = {
    port: 0,
    requests: [],
    events: () =>
      recorder.requests.flatMap(({ body }) =>
        (body.event ?? []).map((event) => ({ ...event, user: event.userUUID ?? body.userUUID })),
      ),
    eventIDs: () =>
      [...new Map(recorder.events().map((event) => [event.eventUUID, event])).values()]
        .sort((a, b) => a.eventTime - b.eventTime || (a.eventUUID < b.eventUUID ? -1 : 1))
        .map(({ eventID }) => eventID),
    respond: () => undefined,
    scriptDelayMilliseconds: 0,
    pages: {},
    up,
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await up();
  return recorder;
};
