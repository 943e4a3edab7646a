import { eventUUIDPattern } from '@firsthand/contract/identifiers';
import { describe, expect, it } from 'vitest';
import { createEventUUID, newEvent } from './new-event.ts';

const receivedTime = Date.parse('2026-03-01T12:00:00.000Z');
const context = { receivedTime, clockError: 0, fromBrowser: true };
const user = 'user_aaaaaaaaaaaaaaaa';
const otherUser = 'user_bbbbbbbbbbbbbbbb';

describe('a new event', () => {
  it('contains the logged fields', () => {
    const logged = {
      userUUID: user,
      eventID: 7,
      eventUUID: 'event_0001',
      eventAttrArray: [{ attrID: 'price', attrValue: '9' }],
    };
    expect(newEvent(logged, {}, context)).toEqual({
      userUUID: user,
      contactUUID: null,
      externalID: null,
      eventID: 7,
      eventName: null,
      mayAddName: true,
      eventUUID: 'event_0001',
      eventTime: receivedTime,
      timeReplaced: false,
      attributes: [['price', '9']],
    });
  });

  it('can have a name instead of an eventID', () => {
    expect(newEvent({ userUUID: user, eventName: 'Signed up' }, {}, context)).toMatchObject({
      eventID: null,
      eventName: 'Signed up',
    });
  });

  it.each([
    ['the batch’s user', {}, { userUUID: user }, [user, null]],
    ['its own user rather than the batch’s', { userUUID: otherUser }, { userUUID: user }, [otherUser, null]],
    ['its own contact rather than the batch’s', { contactUUID: 'own' }, { contactUUID: 'enveloped' }, [null, 'own']],
    ['its own user and the batch’s contact', { userUUID: user }, { contactUUID: 'enveloped' }, [user, 'enveloped']],
    ['no user or contact', {}, {}, [null, null]],
  ])('has %s', (_, own, envelope, expected) => {
    const { userUUID, contactUUID } = newEvent({ eventID: 1, ...own }, envelope, context);
    expect([userUUID, contactUUID]).toEqual(expected);
  });

  it('has a time corrected by its sender’s clock error', () => {
    const event = newEvent({ eventID: 1, eventTime: 1_000 }, {}, { ...context, clockError: receivedTime - 4_000 });
    expect(event.eventTime).toBe(receivedTime - 3_000);
  });

  it('gets an eventUUID that increases with time', () => {
    const { eventUUID } = newEvent({ eventID: 1 }, {}, context);
    expect(eventUUID).toMatch(eventUUIDPattern);
    const eventUUIDs = [0, 35, 36, receivedTime, receivedTime + 1, Date.UTC(5000, 0)].map((time) =>
      createEventUUID(time, '_'),
    );
    expect(eventUUIDs.toSorted()).toEqual(eventUUIDs);
  });
});
