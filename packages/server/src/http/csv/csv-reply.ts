/**
 * Sends all rows of a list as CSV to requests with `Accept: text/csv`. The next page is read when the client has taken the one before. A fault
 * after the first page ends the connection before the end of the response, so that no client takes a part for the whole.
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
import { type Exchange, emptyAnswer, headersOf } from '../answers/answers.ts';
import { createToRefusal } from '../answers/to-refusal.ts';
import { createStreamPlaces, isQueued } from '../operations/stream-places.ts';
import { type CSVRequest, columnsOf } from './csv-columns.ts';
import { toCSVLine } from './csv-line.ts';

interface Page {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor: string;
}

/** Whether a request is to be answered in CSV. Accept is a preference: an operation without rows answers JSON. */
export const wantsCSV = ({ csv }: Operation, { headers }: Request): boolean =>
  csv !== undefined && /\btext\/csv\b/.test(headers.get('accept') ?? '');

/** A refusal that passes: reports of others come first, or the engine starts again. */
const isPassing = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'too_many_requests' || error.code === 'no_reports');
const maxAttempts = 10;
const pauseMilliseconds = 1_000;

const headers = { 'Content-Type': 'text/csv; charset=utf-8; header=present', 'X-Accel-Buffering': 'no' };

interface CSVSurroundings {
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
  answering: (input: object, caller: Caller) => Promise<object>,
  request: CSVExchange,
) => Promise<Response>;

export const createCSVReply = ({ store, log, isStopping }: CSVSurroundings): CSVReply => {
  const toRefusal = createToRefusal(log);
  const enter = createStreamPlaces(limits.csvPerAccount);

  return async (name, answering, { c, exchange, input, caller }) => {
    const { csv: { list, limit } = { list: '', limit: 0 } }: Operation = operations[name];
    for (const field of ['limit', 'cursor', 'interval'])
      if (input[field] !== undefined) {
        const message = `\`${field}\` must be absent with \`Accept: text/csv\`, because a CSV file has all rows`;
        throw new Refusal('invalid_field', { field, message });
      }
    // A HEAD gets no rows, because no client would read them.
    if (c.req.method === 'HEAD') return emptyAnswer(exchange, 200, headers);
    if (isQueued(c)) throw new Refusal('too_many_requests', { retryAfterSeconds: 1 });
    const { signal } = c.req.raw;
    const read = async (cursor?: string): Promise<Page> => {
      const answer = (await answering({ ...input, limit, cursor }, caller)) as Readonly<Record<string, unknown>>;
      if (answer.others !== undefined) {
        const message = `The breakdown has more than ${limit.toLocaleString('en')} rows; narrow it with \`filter\`, or ask for a shorter range.`;
        throw new Refusal('invalid_field', { field: 'by', message });
      }
      return { rows: answer[list] as Page['rows'], nextCursor: (answer.nextCursor as string | undefined) ?? '' };
    };
    const readPatiently = async (cursor: string): Promise<Page> => {
      for (let attempt = 1; ; attempt += 1) {
        if (isStopping()) throw new Refusal('unavailable', { message: 'the server is stopping' });
        // As for every request: the token may have been revoked since.
        if (!(await store.findAccess(hashToken(caller.tokenUUID)))) throw new Refusal('invalid_token');
        try {
          return await read(cursor);
        } catch (error) {
          if (!isPassing(error) || signal.aborted || attempt === maxAttempts) throw error;
          await pause(pauseMilliseconds);
        }
      }
    };

    const leave = enter(caller.access.account ?? 0);
    try {
      const attributes =
        name === 'searchContact' && caller.access.account !== null
          ? await store.listCatalogue({ account: caller.access.account, kind: 'attr' })
          : [];
      const listed = attributes.filter(({ mergedInto }) => mergedInto === null).map(({ id }) => id);
      const columns = columnsOf(name, list, input as CSVRequest, listed);
      const encoder = new TextEncoder();
      const toBytes = ({ rows }: Page) =>
        encoder.encode(rows.map((row) => toCSVLine(columns.map(({ cell }) => cell(row)))).join(''));
      // While a refusal can still be the response.
      let page: Page | undefined = await read();
      const head = encoder.encode(toCSVLine(columns.map((column) => column.head)));
      signal.addEventListener('abort', leave, { once: true });
      let cursor = '';
      const body = new ReadableStream<Uint8Array>(
        {
          start: (controller) => controller.enqueue(head),
          async pull(controller) {
            try {
              page ??= await readPatiently(cursor);
              controller.enqueue(toBytes(page));
              cursor = page.nextCursor;
              page = undefined;
              if (cursor !== '') return;
              leave();
              controller.close();
            } catch (error) {
              leave();
              controller.error(toRefusal(exchange.requestID, error));
            }
          },
          cancel: leave,
        },
        { highWaterMark: 0 },
      );
      return new Response(body, { headers: { ...headersOf(exchange), ...headers } });
    } catch (error) {
      leave();
      throw error;
    }
  };
};
