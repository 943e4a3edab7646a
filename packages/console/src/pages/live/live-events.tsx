/**
 * Events as they are stored, newest first; one opened says everything of itself. The stream can be paused; it goes on where it was, and
 * the newest hundred stay.
 */
import { useEffect, useState } from 'preact/hooks';
import { hrefOf } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { ContactLink } from '../../parts/contact-link.tsx';
import { toFile } from '../../parts/csv.ts';
import { EventLine, type LoggedEvent } from '../../parts/event-line.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { Empty, Problem, Skeleton } from '../../parts/small.tsx';
import { nameOfUser } from '../../reading/person.ts';

const maxShown = 100;
/** Events of so long are shown together: a busy site has hundreds a second. */
const gatherMs = 250;

/** Follows the stream while `isPaused` is false. Events of a pause come when it ends. */
const useStream = (isPaused: boolean) => {
  const [events, setEvents] = useState<readonly LoggedEvent[]>([]);
  const [isRead, setRead] = useState(false);
  const [problem, setProblem] = useState('');
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  // Not when the cursor changes, which the stream itself moves.
  useEffect(() => {
    if (isPaused) return;
    setProblem('');
    const ending = new AbortController();
    const { signal } = ending;
    const follow = async () => {
      let from = cursor;
      if (from === undefined) {
        // The stream begins before the list is read, so that nothing is missed between them.
        from = (await api.reportLive({ limit: 1 }, { signal })).through;
        const { event } = await api.getEvent({ limit: 30, include: 'why' }, { signal });
        setEvents(event);
        setRead(true);
        setCursor(from);
      }
      for await (const event of api.streamEvents({ cursor: from }, { signal })) {
        gathered.unshift(event);
        gathered.length = Math.min(gathered.length, maxShown);
        timer ??= setTimeout(showGathered, gatherMs);
        setCursor(event.cursor);
      }
    };
    const gathered: LoggedEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const showGathered = (): void => {
      timer = undefined;
      const fresh = gathered.splice(0);
      const known = new Set(fresh.map(({ eventUUID }) => eventUUID));
      setEvents((before) => [...fresh, ...before.filter(({ eventUUID }) => !known.has(eventUUID))].slice(0, maxShown));
    };
    follow().catch((error) => signal.aborted || setProblem(messageOf(error)));
    return () => {
      clearTimeout(timer);
      showGathered();
      ending.abort();
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
  const [wanted, setWanted] = useState('');
  const text = wanted.trim().toLowerCase();
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
        aria-label="Show events with this text"
        placeholder="Filter"
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
      <button type="button" onClick={() => setPaused(!isPaused)} aria-pressed={isPaused}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
    </>
  );
  return (
    <Card title="Events as they are stored" tools={tools} class="live-events">
      {problem && <Problem text={problem} again={() => location.reload()} />}
      {!isRead && !problem && <Skeleton lines={12} />}
      {isRead && shown.length === 0 && !problem && (
        <Empty title={text ? 'No recent event matches' : 'Waiting for events …'}>
          {!text && <p class="soft">They appear here the moment they are stored.</p>}
        </Empty>
      )}
      <ul class="events">
        {shown.map((event) => (
          <EventLine key={event.eventUUID} event={event} who={<Who event={event} />} />
        ))}
      </ul>
    </Card>
  );
};

const Who = ({ event: { contactUUID, userUUID } }: { readonly event: LoggedEvent }) =>
  contactUUID ? (
    <ContactLink contactUUID={contactUUID} />
  ) : (
    <a href={hrefOf('person', { user: userUUID })} class="soft">
      {nameOfUser(userUUID)}
    </a>
  );
