/** Reads server-sent events (WHATWG HTML section 9.2.6), as far as streamEvents uses them. */
import type { AnswerFor } from './answers.ts';

/** An event, with the cursor from which a stream continues after it. */
export type FollowedEvent<Dates extends boolean = false> = AnswerFor<'streamEvents', Dates> & {
  readonly cursor: string;
};

export interface Message {
  readonly type: string;
  /** Empty for a message without data, which only sets the position. */
  readonly data: string;
  /** The last `id`, sent with this message or before it. */
  readonly id: string;
}

/** The longest message in characters. A longer one is never an event of the service, and ends the connection. */
const maxCharacters = 4 * 1024 * 1024;

/** Yields the messages of a body in order. One without data only sets the position; comments are left out. */
export async function* parseMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let id = '';
  let fields = new Map<string, string>();
  let size = 0;
  for await (const line of readLines(body)) {
    size += line.length;
    if (size > maxCharacters) throw tooLong();
    if (line !== '') {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) as RegExpExecArray;
      const before = name === 'data' ? fields.get(name) : undefined;
      fields.set(name, before === undefined ? value : `${before}\n${value}`);
      continue;
    }
    id = fields.get('id') ?? id;
    if (fields.has('id') || fields.has('data'))
      yield { type: fields.get('event') || 'message', data: fields.get('data') ?? '', id };
    fields = new Map();
    size = 0;
  }
}

const tooLong = () => new Error(`a message of the stream is longer than ${maxCharacters} characters`);

/** Yields the lines of a body, which end with CR LF, LF or CR. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of readText(body)) {
    rest += chunk;
    if (rest.length > maxCharacters) throw tooLong();
    if (!/[\r\n]/.test(chunk)) continue;
    // An LF may follow a CR at the end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() as string;
    yield* lines;
  }
}

/** The service sends a comment every 15 seconds, so a connection that is silent for this long is dead. */
const longestSilenceMs = 60_000;

async function* readText(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const silence = setTimeout(() => reader.cancel().catch(() => {}), longestSilenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // Runs also if the caller stops reading, so that the service stops sending.
    await reader.cancel().catch(() => {});
  }
}
