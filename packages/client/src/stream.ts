/** Reads the subset of server-sent events (WHATWG HTML section 9.2.6) that streamEvents uses. */
import type { ResponseFor } from './responses.ts';

/** An event, with the cursor at which a stream resumes after it. */
export type FollowedEvent<Dates extends boolean = false> = ResponseFor<'streamEvents', Dates> & {
  readonly cursor: string;
};

export interface Message {
  readonly type: string;
  /** Empty for a message without data. */
  readonly data: string;
  /** The most recent `id`, sent with this message or before it. */
  readonly id: string;
}

/** The maximum message length. The service never sends longer events, so a longer message ends the connection. */
const maxCharacters = 4 * 1024 * 1024;

/** Yields a body's messages in order. A message without data only sets the position; comments are skipped. */
export async function* parseMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let id = '';
  let fields = new Map<string, string>();
  let size = 0;
  for await (const line of readLines(body)) {
    size += line.length;
    if (size > maxCharacters) throw createLengthError();
    if (line !== '') {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) as RegExpExecArray;
      const previous = name === 'data' ? fields.get(name) : undefined;
      fields.set(name, previous === undefined ? value : `${previous}\n${value}`);
      continue;
    }
    id = fields.get('id') ?? id;
    if (fields.has('id') || fields.has('data'))
      yield { type: fields.get('event') || 'message', data: fields.get('data') ?? '', id };
    fields = new Map();
    size = 0;
  }
}

const createLengthError = () => new Error(`a message in the stream is longer than ${maxCharacters} characters`);

/** Yields lines, which end with CR LF, LF or CR. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of readText(body)) {
    rest += chunk;
    if (rest.length > maxCharacters) throw createLengthError();
    if (!/[\r\n]/.test(chunk)) continue;
    // A CR at the end may be the first half of CR LF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() as string;
    yield* lines;
  }
}

/** The service sends a comment every 15 seconds, so a connection silent for this long is dead. */
const maxSilenceMs = 60_000;

async function* readText(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const silence = setTimeout(() => reader.cancel().catch(() => {}), maxSilenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // Also runs when the caller stops reading, so that the service stops sending.
    await reader.cancel().catch(() => {});
  }
}
