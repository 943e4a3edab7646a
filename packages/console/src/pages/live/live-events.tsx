/**
 * Events as they are stored, newest first. Expanding an event shows its details. The stream can be paused and resumes
 * where it stopped. Only the newest hundred events are kept.
 */
import { useEffect, useState } from 'preact/hooks';
import { hrefOf } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { ContactLink } from '../../parts/contact-link.tsx';
import { toFile } from '../../parts/csv.ts';
import { EventLine, type LoggedEvent } from '../../parts/event-line.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { EmptyState, Problem, Skeleton } from '../../parts/small.tsx';
import { nameOfUser } from '../../reading/person.ts';

const maxShown = 100;
/** Render at most once per this interval: busy sites send hundreds of events a second. */
const batchMs = 250;

/** Follows the stream unless it is paused. Events stored during a pause arrive when it ends. */
const useStream = (isPaused: boolean) => {
  const [events, setEvents] = useState<readonly LoggedEvent[]>([]);
  const [isRead, setRead] = useState(false);
  const [problem, setProblem] = useState('');
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  // The cursor is deliberately not a dependency: the stream itself moves it.
  useEffect(() => {
    if (isPaused) return;
    setProblem('');
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async () => {
      let from = cursor;
      if (from === undefined) {
        // Read the cursor before the list, so that no event between the two is missed.
        from = (await api.reportLive({ limit: 1 }, { signal })).through;
        const { event } = await api.getEvent({ limit: 30, include: 'why' }, { signal });
        setEvents(event);
        setRead(true);
        setCursor(from);
      }
      for await (const event of api.streamEvents({ cursor: from }, { signal })) {
        pending.unshift(event);
        pending.length = Math.min(pending.length, maxShown);
        timer ??= setTimeout(showPending, batchMs);
        setCursor(event.cursor);
      }
    };
    const pending: LoggedEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const showPending = (): void => {
      timer = undefined;
      const fresh = pending.splice(0);
      const freshIDs = new Set(fresh.map(({ eventUUID }) => eventUUID));
      setEvents((before) =>
        [...fresh, ...before.filter(({ eventUUID }) => !freshIDs.has(eventUUID))].slice(0, maxShown),
      );
    };
    follow().catch((error) => signal.aborted || setProblem(messageOf(error)));
    return () => {
      clearTimeout(timer);
      showPending();
      controller.abort();
    };
  }, [isPaused]);
  return { events, isRead, problem };
};

const fileOf = (events: readonly LoggedEvent[]) =>
  toFile(
    ['time', 'event', 'user', 'contact', 'attributes as JSON'],
    events.map(({ eventTime, eventName, userUUID, contactUUID, eventAttrArray }) => [
      eventTime,
      eventName,
      userUUID,
      contactUUID,
      JSON.stringify(Object.fromEntries(eventAttrArray.map(({ attrID, attrValue }) => [attrID, attrValue]))),
    ]),
  );

export const LiveEvents = () => {
  const [isPaused, setPaused] = useState(false);
  const { events, isRead, problem } = useStream(isPaused);
  const [filterText, setFilterText] = useState('');
  const text = filterText.trim().toLowerCase();
  const shown =
    text === ''
      ? events
      : events.filter(({ eventName, eventAttrArray }) =>
          [eventName, ...eventAttrArray.map(({ attrValue }) => attrValue)].some((value) =>
            value.toLowerCase().includes(text),
          ),
        );
  const tools = (
    <>
      <SaveFile title="Live events" read={() => fileOf(shown)} />
      <input
        type="search"
        aria-label="Filter events by text"
        placeholder="Filter"
        value={filterText}
        onInput={(event) => setFilterText(event.currentTarget.value)}
      />
      <button type="button" onClick={() => setPaused(!isPaused)} aria-pressed={isPaused}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
    </>
  );
  return (
    <Card title="Live events" tools={tools} class="live-events">
      {problem && <Problem text={problem} reload={() => location.reload()} />}
      {!isRead && !problem && <Skeleton lines={12} />}
      {isRead && shown.length === 0 && !problem && (
        <EmptyState title={text ? 'No recent events match' : 'Waiting for events…'}>
          {!text && <p class="soft">Events appear here as soon as they are stored.</p>}
        </EmptyState>
      )}
      <ul class="events">
        {shown.map((event) => (
          <EventLine key={event.eventUUID} event={event} person={<PersonLink event={event} />} />
        ))}
      </ul>
    </Card>
  );
};

const PersonLink = ({ event: { contactUUID, userUUID } }: { readonly event: LoggedEvent }) =>
  contactUUID ? (
    <ContactLink contactUUID={contactUUID} />
  ) : (
    <a href={hrefOf('person', { user: userUUID })} class="soft">
      {nameOfUser(userUUID)}
    </a>
  );
