/** Server-sent events (WHATWG HTML section 9.2.6), as far as streamEvents uses them. */
import type { ResponseOf } from '@firsthand/contract';

/** An event, with the cursor that goes on after it. */
export type FollowedEvent = ResponseOf<'streamEvents'> & { readonly cursor: string };

export interface Message {
  readonly type: string;
  readonly data: string;
  /** The last `id` that was sent, with this message or before it. */
  readonly id: string;
}

/** The messages of a body, in order. A message without data (a comment to keep the line open) is left out. */
export async function* parseMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let rest = '';
  let message = { type: 'message', data: [] as string[], id: '' };
  for await (const chunk of readText(body)) {
    // A CR at the end may be half of a CRLF: it waits for the next chunk.
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') {
        message = addLine(message, line);
      } else {
        if (message.data.length > 0) yield { type: message.type, data: message.data.join('\n'), id: message.id };
        message = { type: 'message', data: [], id: message.id };
      }
    }
  }
}

const addLine = <M extends { type: string; data: string[]; id: string }>(message: M, line: string): M => {
  const colon = line.indexOf(':');
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'data') message.data.push(value);
  if (name === 'event') return { ...message, type: value };
  if (name === 'id' && !value.includes('\0')) return { ...message, id: value };
  return message;
};

/** The service sends a comment every 15 seconds, if nothing else: a line that is silent for longer is dead. */
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
    // Also when the caller has stopped reading: the service must not go on sending.
    await reader.cancel().catch(() => {});
  }
}
