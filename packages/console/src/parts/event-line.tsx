/** An event in a list; opened, it says everything of itself, and why it belongs to whom it belongs to. */
import type { AnswerFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { programIn } from '../reading/browser.ts';
import { attributeName, valueName } from '../reading/filter.ts';
import { At, Badge, Copyable } from './small.tsx';

export type LoggedEvent = AnswerFor<'getEvent'>['event'][number];

/** The reason why an event belongs to somebody, as a sentence. */
const reasonOf = ({ why, contactUUID }: LoggedEvent): string => {
  switch (why?.rule) {
    case 'logged with the contact':
      return 'Your server logged it with this contact.';
    case 'linked':
      return `The browser was linked to this contact before the event${why.verified ? '' : ', by an unconfirmed claim'}.`;
    case 'reached back':
      return `Anonymous when it happened. The browser was linked to this contact later, and the link reaches back to it${why.verified ? '' : '; the link comes from an unconfirmed claim'}.`;
    case 'nobody':
      return 'This browser does not belong to a contact yet.';
    default:
      return contactUUID ? 'It belongs to this contact.' : 'This browser does not belong to a contact yet.';
  }
};

const firstOf = ({ eventAttrArray }: LoggedEvent, ...attrIDs: string[]): string => {
  for (const wanted of attrIDs) {
    const found = eventAttrArray.find(({ attrID }) => attrID === wanted);
    if (found?.attrValue) return found.attrValue;
  }
  return '';
};

const isOfRobot = (event: LoggedEvent): boolean => firstOf(event, 'robot') === 'true';

/** A short text that distinguishes an event from others of its kind. */
const gist = (event: LoggedEvent): string => {
  const told = firstOf(event, 'path', 'product', 'title', 'name');
  if (told) return told;
  const first = event.eventAttrArray.find(({ attrID }) => !attrID.startsWith('$'));
  return first ? `${attributeName(first.attrID)} ${first.attrValue}` : '';
};

interface EventLineProps {
  readonly event: LoggedEvent;
  /** Whose it is, where the list is of several people. */
  readonly who?: ComponentChildren;
}

export const EventLine = ({ event, who }: EventLineProps) => {
  const [isOpen, setOpen] = useState(false);
  const { eventName, eventTime, eventUUID, eventAttrArray, userUUID, eventTimeReplaced, why } = event;
  const device = programIn(eventAttrArray);
  return (
    <li class={isOpen ? 'event event-open' : 'event'}>
      <div class="event-line">
        <At time={eventTime} />
        <button type="button" class="event-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {eventName}
        </button>
        {who && <span class="event-who">{who}</span>}
        <span class="event-gist">{gist(event)}</span>
        {isOfRobot(event) && (
          <span class="event-robot" title="Reports leave robots out">
            <Badge tone="open">robot</Badge>
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
          {eventTimeReplaced && <p>The browser’s clock was wrong: this is the time at which the event arrived.</p>}
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
                <At time={eventTime} form="long" />
              </dd>
            </div>
            <div>
              <dt>Event ID</dt>
              <dd>
                <Copyable text={eventUUID} />
              </dd>
            </div>
            {userUUID && (
              <div>
                <dt>Browser ID</dt>
                <dd>
                  <Copyable text={userUUID} />
                </dd>
              </div>
            )}
          </dl>
        </div>
      )}
    </li>
  );
};
