/**
 * Sends all rows of a list as CSV or NDJSON to requests that accept it, one page at a time as the client reads. An
 * error after the first page closes the connection mid-response, so that no client mistakes part of the file for the
 * whole.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '@firsthand/contract/limits';
import { type Operation, type OperationName, operations } from '@firsthand/contract/operations';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';
import { createStreamSlots, isQueued } from '../operations/stream-slots.ts';
import { type Exchange, emptyResponse, headersOf } from '../responses/responses.ts';
import { createErrorConverter } from '../responses/to-refusal.ts';
import { type CSVRequest, columnsOf } from './csv-columns.ts';
import { toCSVLine } from './csv-line.ts';

interface Page {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor: string;
}

type FileType = 'text/csv' | 'application/x-ndjson';

const acceptedType = ({ headers }: Request): FileType | undefined =>
  headers.get('accept')?.match(/\b(?:text\/csv|application\/x-ndjson)\b/)?.[0] as FileType | undefined;

/** Whether to respond with a file. Accept is a preference: an operation without rows responds with JSON. */
export const wantsFile = ({ csv }: Operation, request: Request): boolean =>
  csv !== undefined && acceptedType(request) !== undefined;

/** Whether a refusal is temporary: other reports are ahead in the queue, or the engine is restarting. */
const isTemporary = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'too_many_requests' || error.code === 'no_reports');
const maxAttempts = 10;
const pauseMilliseconds = 1_000;

const contentTypes = {
  'text/csv': 'text/csv; charset=utf-8; header=present',
  'application/x-ndjson': 'application/x-ndjson',
} satisfies Record<FileType, string>;

interface FileLines {
  readonly head: string;
  readonly toLine: (row: Page['rows'][number]) => string;
}

const ndjson: FileLines = { head: '', toLine: (row) => `${JSON.stringify(row)}\n` };

interface CSVDependencies {
  readonly store: Pick<Store, 'findAccess' | 'listCatalogue'>;
  readonly log: Logger;
  readonly isStopping: () => boolean;
}

interface CSVExchange {
  readonly c: Context;
  readonly exchange: Exchange;
  readonly input: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
}

export type CSVReply = (
  name: OperationName,
  handler: (input: object, caller: Caller) => Promise<object>,
  request: CSVExchange,
) => Promise<Response>;

const createCSVLines = async (
  store: CSVDependencies['store'],
  name: OperationName,
  list: string,
  input: CSVRequest,
  { access: { account } }: Caller,
): Promise<FileLines> => {
  const attributes =
    name === 'searchContact' && account !== null ? await store.listCatalogue({ account, kind: 'attr' }) : [];
  const listed = attributes.filter(({ mergedInto }) => mergedInto === null).map(({ id }) => id);
  const columns = columnsOf(name, list, input, listed);
  return {
    head: toCSVLine(columns.map((column) => column.head)),
    toLine: (row) => toCSVLine(columns.map(({ cell }) => cell(row))),
  };
};

export const createCSVReply = ({ store, log, isStopping }: CSVDependencies): CSVReply => {
  const toRefusal = createErrorConverter(log);
  const takeSlot = createStreamSlots(limits.csvPerAccount);

  return async (name, handler, { c, exchange, input, caller }) => {
    const { csv: { list, limit } = { list: '', limit: 0 } }: Operation = operations[name];
    const type = acceptedType(c.req.raw) ?? 'text/csv';
    const headers = { 'Content-Type': contentTypes[type], 'X-Accel-Buffering': 'no' };
    for (const field of ['limit', 'cursor', 'interval'])
      if (input[field] !== undefined) {
        const message = `\`${field}\` must be absent with \`Accept: ${type}\`, because the file contains all rows`;
        throw new Refusal('invalid_field', { field, message });
      }
    // HEAD has no body, so no rows are read.
    if (c.req.method === 'HEAD') return emptyResponse(exchange, 200, headers);
    if (isQueued(c)) throw new Refusal('too_many_requests', { retryAfterSeconds: 1 });
    const { signal } = c.req.raw;
    const read = async (cursor?: string): Promise<Page> => {
      const response = (await handler({ ...input, limit, cursor }, caller)) as Readonly<Record<string, unknown>>;
      if (response.others !== undefined) {
        const message = `the breakdown has more than ${limit.toLocaleString('en')} rows: narrow it with \`filter\`, or request a shorter range`;
        throw new Refusal('invalid_field', { field: 'by', message });
      }
      return { rows: response[list] as Page['rows'], nextCursor: (response.nextCursor as string | undefined) ?? '' };
    };
    const readWithRetries = async (cursor: string): Promise<Page> => {
      for (let attempt = 1; ; attempt += 1) {
        if (isStopping()) throw new Refusal('unavailable', { message: 'the server is stopping' });
        // Checked for each page, because the token might have been revoked in the meantime.
        if (!(await store.findAccess(hashToken(caller.tokenUUID)))) throw new Refusal('invalid_token');
        try {
          return await read(cursor);
        } catch (error) {
          if (!isTemporary(error) || signal.aborted || attempt === maxAttempts) throw error;
          await pause(pauseMilliseconds);
        }
      }
    };

    const releaseSlot = takeSlot(caller.access.account ?? 0);
    try {
      const { head, toLine } = type === 'text/csv' ? await createCSVLines(store, name, list, input, caller) : ndjson;
      const encoder = new TextEncoder();
      const toBytes = ({ rows }: Page) => encoder.encode(rows.map(toLine).join(''));
      // The first page is read before the response starts, so that a refusal can still be the response.
      let page: Page | undefined = await read();
      signal.addEventListener('abort', releaseSlot, { once: true });
      let cursor = '';
      const body = new ReadableStream<Uint8Array>(
        {
          start: (controller) => controller.enqueue(encoder.encode(head)),
          async pull(controller) {
            try {
              page ??= await readWithRetries(cursor);
              controller.enqueue(toBytes(page));
              cursor = page.nextCursor;
              page = undefined;
              if (cursor !== '') return;
              releaseSlot();
              controller.close();
            } catch (error) {
              releaseSlot();
              controller.error(toRefusal(exchange.requestID, error));
            }
          },
          cancel: releaseSlot,
        },
        { highWaterMark: 0 },
      );
      return new Response(body, { headers: { ...headersOf(exchange), ...headers } });
    } catch (error) {
      releaseSlot();
      throw error;
    }
  };
};
