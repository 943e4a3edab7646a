/** An event in a list. Expanded, it shows all fields and why it belongs to its contact. */
import type { ResponseFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { programIn } from '../reading/browser.ts';
import { attributeName, valueName } from '../reading/filter.ts';
import { Badge, CopyableText, Time } from './small.tsx';

export type LoggedEvent = ResponseFor<'getEvent'>['event'][number];

/** Explains which contact an event belongs to and why. */
const reasonOf = ({ why, contactUUID }: LoggedEvent): string => {
  switch (why?.rule) {
    case 'logged with the contact':
      return 'Your server logged it with this contact.';
    case 'linked':
      return `The browser was linked to this contact before the event${why.verified ? '' : ', by an unconfirmed claim'}.`;
    case 'reached back':
      return `Anonymous at the time. The browser was linked to this contact later${why.verified ? '' : ', by an unconfirmed claim'}, and the link includes earlier events.`;
    case 'nobody':
      return 'This browser does not belong to a contact yet.';
    default:
      return contactUUID ? 'It belongs to this contact.' : 'This browser does not belong to a contact yet.';
  }
};

const firstOf = ({ eventAttrArray }: LoggedEvent, ...attrIDs: string[]): string => {
  for (const name of attrIDs) {
    const match = eventAttrArray.find(({ attrID }) => attrID === name);
    if (match?.attrValue) return match.attrValue;
  }
  return '';
};

const isOfRobot = (event: LoggedEvent): boolean => firstOf(event, 'robot') === 'true';

/** The tracker's own attributes, which don't distinguish events. */
const trackerAttributes = ['dropped', 'robot'];

/** A short detail that distinguishes an event from others with the same name. */
const gist = (event: LoggedEvent): string => {
  const summary = firstOf(event, 'path', 'product', 'title', 'name');
  if (summary) return summary;
  const first = event.eventAttrArray.find(
    ({ attrID }) => !attrID.startsWith('$') && !trackerAttributes.includes(attrID),
  );
  return first ? `${attributeName(first.attrID)} ${first.attrValue}` : '';
};

interface EventLineProps {
  readonly event: LoggedEvent;
  /** A link to the person, for lists that show several people's events. */
  readonly person?: ComponentChildren;
}

export const EventLine = ({ event, person }: EventLineProps) => {
  const [isOpen, setOpen] = useState(false);
  const { eventName, eventTime, eventUUID, eventAttrArray, userUUID, eventTimeReplaced, why } = event;
  const device = programIn(eventAttrArray);
  return (
    <li class={isOpen ? 'event event-open' : 'event'}>
      <div class="event-line">
        <Time time={eventTime} />
        <button type="button" class="event-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {eventName}
        </button>
        {person && <span class="event-who">{person}</span>}
        <span class="event-gist">{gist(event)}</span>
        {isOfRobot(event) && (
          <span class="event-robot" title="Reports exclude bots">
            <Badge tone="open">bot</Badge>
          </span>
        )}
        <span class="event-device soft" title={device}>
          {device}
        </span>
      </div>
      {isOpen && (
        <div class="event-all">
          <p>{reasonOf(event)}</p>
          {why?.mergedFrom && <p>It was logged for a contact that has been merged into this one.</p>}
          {eventTimeReplaced && <p>The browser’s clock was wrong. The time shown is when the event arrived.</p>}
          <dl>
            {eventAttrArray.map(({ attrID, attrValue }) => (
              <div key={attrID}>
                <dt title={attrID}>{attributeName(attrID)}</dt>
                <dd>{valueName(attrID, attrValue)}</dd>
              </div>
            ))}
            <div>
              <dt>Time</dt>
              <dd>
                <Time time={eventTime} form="long" />
              </dd>
            </div>
            <div>
              <dt>Event ID</dt>
              <dd>
                <CopyableText text={eventUUID} />
              </dd>
            </div>
            {userUUID && (
              <div>
                <dt>Browser ID</dt>
                <dd>
                  <CopyableText text={userUUID} />
                </dd>
              </div>
            )}
          </dl>
        </div>
      )}
    </li>
  );
};
