/** Reads server-sent events (WHATWG HTML section 9.2.6), as far as streamEvents uses them. */
import { createParser } from 'eventsource-parser';
import type { AnswerFor } from './answers.ts';

/** An event, with the cursor from which a stream continues after it. */
export type FollowedEvent<Dates extends boolean = false> = AnswerFor<'streamEvents', Dates> & {
  readonly cursor: string;
};

export interface Message {
  readonly type: string;
  readonly data: string;
  /** The last `id`, sent with this message or before it. */
  readonly id: string;
}

/** The longest message. A longer one is never an event of the service, and ends the connection. */
const mostCharacters = 4 * 1024 * 1024;

/** Yields the messages of a body, in order, without those that have no data (comments that keep the connection open). */
export async function* parseMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const messages: Message[] = [];
  let lastID = '';
  const parser = createParser({
    maxBufferSize: mostCharacters,
    onEvent({ event = 'message', data, id = lastID }) {
      lastID = id;
      messages.push({ type: event, data, id });
    },
  });
  for await (const chunk of readText(body)) {
    parser.feed(chunk);
    yield* messages.splice(0);
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
