/** Follows an account through streamEvents as a client does that begins again where it was, whenever its stream ends. */

export interface Followed {
  /** How often each event came, by `userUUID eventUUID`. */
  readonly seen: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface Told {
  readonly userUUID: string;
  readonly eventUUID: string;
}

/** Calls `tell` for each message of a stream: its ID and its data. Returns when the stream ends. */
const readMessages = async (response: Response, tell: (id: string, data: string) => void): Promise<void> => {
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
      if (fields.get('event') === 'event') tell(fields.get('id') as string, fields.get('data') as string);
    }
  }
};

/** `start` is the cursor after which it begins. */
export const follow = (url: string, token: string, start: string): Followed => {
  const seen = new Map<string, number>();
  const aborted = new AbortController();
  const headers = { Authorization: `Bearer ${token}` };
  let cursor = start;
  const followOnce = async () => {
    const { signal } = aborted;
    const response = await fetch(`${url}/event/streamEvents?cursor=${encodeURIComponent(cursor)}`, { headers, signal });
    if (!response.ok) throw new Error(await response.text());
    await readMessages(response, (id, data) => {
      const { userUUID, eventUUID } = JSON.parse(data) as Told;
      const key = `${userUUID} ${eventUUID}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
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
    seen,
    stop: () => {
      aborted.abort();
      return following;
    },
  };
};
