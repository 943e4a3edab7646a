/** The timeline: expandable sessions, with headings for days, long pauses, links and merges. */
import type { RequestFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { EventLine } from '../../parts/event-line.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { EmptyState } from '../../parts/small.tsx';
import { browserIn } from '../../reading/browser.ts';
import { formatLength, formatTime, formatWhole } from '../../reading/format.ts';
import { usePagination } from '../../reading/pages.ts';
import { nameOfUser } from '../../reading/person.ts';
import { BrowserMark } from './browser-mark.tsx';
import {
  type LinkEntry,
  type MergeEntry,
  reachesBack,
  type Session,
  timeOf,
  toHistory,
  toSessions,
} from './history.ts';
import { LinkMark } from './link-mark.tsx';
import { MergeMark } from './merge-mark.tsx';

const limit = 200;
const initiallyOpen = 2;
/** Longer pauses get their own line. */
const longPauseMs = 7 * 86_400_000;

const SessionPart = ({
  session,
  isInitiallyOpen,
}: {
  readonly session: Session;
  readonly isInitiallyOpen: boolean;
}) => {
  const [isOpen, setOpen] = useState(isInitiallyOpen);
  const { events, fromMs, toMs, userUUID } = session;
  const [from, to] = [formatTime(fromMs, 'time'), formatTime(toMs, 'time')];
  const browser = browserIn(events.flatMap(({ eventAttrArray }) => eventAttrArray));
  const isAnonymous = events.some(({ why }) => why?.rule === 'reached back');
  return (
    <li class={isAnonymous ? 'session session-anonymous' : 'session'}>
      <button type="button" class="session-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <strong>
          {from}
          {to !== from && ` – ${to}`}
        </strong>
        <span>
          {formatWhole(events.length)} {events.length === 1 ? 'event' : 'events'}
          {toMs - fromMs >= 60_000 && ` in ${formatLength(toMs - fromMs)}`}
        </span>
        <span class="session-browser">
          <BrowserMark userUUID={userUUID} />
          <span class="soft">{browser || (userUUID ? nameOfUser(userUUID) : 'Your server')}</span>
        </span>
        {isAnonymous && <span class="session-note">anonymous at the time</span>}
      </button>
      {isOpen && (
        <ul class="events">
          {events.map((event) => (
            <EventLine key={event.eventUUID} event={event} />
          ))}
        </ul>
      )}
    </li>
  );
};

interface TimelineProps {
  readonly person: Pick<RequestFor<'getEvent'>, 'contactUUID' | 'userUUID'>;
  readonly marks: readonly (LinkEntry | MergeEntry)[];
  readonly reload: () => void;
  /** A change reloads the events: a link or merge may have changed their owners. */
  readonly version?: unknown;
}

export const Timeline = ({ person, marks, reload, version }: TimelineProps) => {
  const { response, more } = usePagination(`events ${JSON.stringify(person)}`, async (cursor, signal) => {
    const { event, nextCursor } = await api.getEvent({ ...person, include: 'why', limit, cursor }, { signal });
    return { entries: event, nextCursor };
  });
  const loadedVersion = useRef(version);
  useEffect(() => {
    if (version !== loadedVersion.current) response.reload();
    loadedVersion.current = version;
  }, [version]);
  return (
    <Card
      title="History"
      class="history"
      tools={<SaveCSV title="History" operation="getEvent" request={{ ...person, include: 'why' }} />}
    >
      <ResponseView response={response} lines={10}>
        {(events) => {
          const isWhole = more === undefined;
          const sessionList = toSessions(events);
          const entries = toHistory(sessionList, marks, isWhole);
          if (entries.length === 0) return <EmptyState title="No events yet" />;
          let sessions = 0;
          const parts: ComponentChildren[] = [];
          entries.forEach((entry, index) => {
            const at = timeOf(entry);
            const day = formatTime(at, 'weekday');
            const previous = entries[index - 1];
            if (previous === undefined || formatTime(timeOf(previous), 'weekday') !== day) {
              const pauseMs = previous ? timeOf(previous) - at : 0;
              if (pauseMs > longPauseMs)
                parts.push(
                  <li key={`pause ${at}`} class="pause">
                    No events for {formatLength(pauseMs)}
                  </li>,
                );
              parts.push(
                <li key={`day ${at}`} class="day">
                  <h3>
                    {day}
                    {new Date(at).getUTCFullYear() !== new Date().getUTCFullYear() &&
                      ` ${new Date(at).getUTCFullYear()}`}
                  </h3>
                </li>,
              );
            }
            if (entry.kind === 'link')
              parts.push(
                <LinkMark
                  key={`turn ${entry.link.linkID}`}
                  entry={entry}
                  hasHistory={reachesBack(entry, sessionList, isWhole)}
                  refresh={reload}
                />,
              );
            else if (entry.kind === 'merge')
              parts.push(<MergeMark key={`merge ${entry.merge.contactUUID}`} entry={entry} refresh={reload} />);
            else {
              sessions += 1;
              parts.push(
                <SessionPart
                  key={entry.events[0]?.eventUUID}
                  session={entry}
                  isInitiallyOpen={sessions <= initiallyOpen}
                />,
              );
            }
          });
          return (
            <>
              <ol class="timeline">{parts}</ol>
              {more && (
                <button type="button" class="more" onClick={more}>
                  Show earlier events
                </button>
              )}
            </>
          );
        }}
      </ResponseView>
    </Card>
  );
};
