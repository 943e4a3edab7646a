/** What clients sent and what they were told, kept outside the server, to be compared with what the server holds. */

interface Sent {
  readonly userUUID: string;
  readonly eventUUID: string;
}

export interface Ledger {
  /** Sends events until stopped, singly and in batches; what gets no answer is sent again with its eventUUID. */
  send(url: string, token: string): { stop(): Promise<void> };
  /** Sends again what was never answered. */
  settle(url: string, token: string): Promise<void>;
  /** Every event that was answered 200, as `userUUID eventUUID`. */
  readonly acknowledged: ReadonlySet<string>;
}

const keyOf = ({ userUUID, eventUUID }: Sent) => `${userUUID} ${eventUUID}`;

export const createLedger = (clients: number): Ledger => {
  const acknowledged = new Set<string>();
  const unanswered = new Set<Sent[]>();
  let made = 0;

  const make = (): Sent => {
    made += 1;
    return {
      userUUID: `user_${String(made % 50).padStart(16, '0')}`,
      eventUUID: `event_${String(made).padStart(10, '0')}`,
    };
  };

  const post = async (url: string, token: string, events: readonly Sent[]): Promise<boolean> => {
    const [first] = events;
    const single = events.length === 1;
    const body = single
      ? { tokenUUID: token, eventID: 1, ...first }
      : { tokenUUID: token, event: events.map((event) => ({ eventID: 2, ...event })) };
    try {
      const response = await fetch(`${url}/event/${single ? 'logEvent' : 'logEvents'}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      // The bytes of the answer may stop in the middle: then it was not answered.
      const answer = (await response.json()) as { status: string; event?: { status: string }[] };
      if (answer.status !== '200' || answer.event?.some(({ status }) => status !== '200')) return false;
      for (const event of events) acknowledged.add(keyOf(event));
      return true;
    } catch {
      return false;
    }
  };

  return {
    acknowledged,
    send(url, token) {
      let stopped = false;
      const client = async (number: number) => {
        while (!stopped) {
          const events = Array.from({ length: number % 4 === 0 ? 20 : 1 }, make);
          if (!(await post(url, token, events))) {
            unanswered.add(events);
            // The server is gone, or going: no need to ask it as fast as one can.
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        }
      };
      const done = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
      return {
        async stop() {
          stopped = true;
          await done;
        },
      };
    },
    async settle(url, token) {
      for (const events of unanswered) {
        if (!(await post(url, token, events))) throw new Error('a settled server did not answer 200');
        unanswered.delete(events);
      }
    },
  };
};

/** Every event that the server holds, as `userUUID eventUUID`, read page by page through getEvent. */
export const readEverything = async (url: string, token: string): Promise<string[]> => {
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const response = await fetch(`${url}/event/getEvent?order=asc&limit=1000&cursor=${encodeURIComponent(cursor)}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { event, nextCursor } = (await response.json()) as { event: Sent[]; nextCursor: string };
    for (const one of event) found.push(keyOf(one));
    if (nextCursor === '') return found;
    cursor = nextCursor;
  }
};
