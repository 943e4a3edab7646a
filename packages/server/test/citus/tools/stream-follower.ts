/** Follows an account through streamEvents, as a client does that resumes whenever its stream ends. */

export interface Follower {
  /** The number of times each event was received, by `userUUID eventUUID`. */
  readonly received: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface ReceivedEvent {
  readonly userUUID: string;
  readonly eventUUID: string;
}

/** Calls `onMessage` with the ID and data of each message, until the stream ends. */
const readMessages = async (response: Response, onMessage: (id: string, data: string) => void): Promise<void> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: ?(.*)/) as [string, string]),
      );
      text = text.slice(end + 2);
      if (fields.get('event') === 'event') onMessage(fields.get('id') as string, fields.get('data') as string);
    }
  }
};

/** Follows an account from the cursor `start`. */
export const follow = (url: string, token: string, start: string): Follower => {
  const received = new Map<string, number>();
  const aborted = new AbortController();
  const headers = { Authorization: `Bearer ${token}` };
  let cursor = start;
  const followOnce = async () => {
    const { signal } = aborted;
    const response = await fetch(`${url}/event/streamEvents?cursor=${encodeURIComponent(cursor)}`, { headers, signal });
    if (!response.ok) throw new Error(await response.text());
    await readMessages(response, (id, data) => {
      const { userUUID, eventUUID } = JSON.parse(data) as ReceivedEvent;
      const key = `${userUUID} ${eventUUID}`;
      received.set(key, (received.get(key) ?? 0) + 1);
      cursor = id;
    });
  };
  const following = (async () => {
    while (!aborted.signal.aborted) {
      await followOnce().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    received,
    stop: () => {
      aborted.abort();
      return following;
    },
  };
};
