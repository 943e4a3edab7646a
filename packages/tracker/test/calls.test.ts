import { expect, test } from 'vitest';
import type { ContactResult, Tracker, TrackerError } from '../src/index.ts';
import {
  consoleTexts,
  countQueued,
  describeInChromium,
  openPage,
  pause,
  publish,
  recorder,
  waitFor,
} from './chromium-page.ts';

declare const tracker: Tracker;

describeInChromium('the tracker in Chromium', () => {
  test('sends calls that were made before the script loaded, in order, and settles their promises', async () => {
    recorder.scriptDelayMilliseconds = 400;
    const url = publish('/', {
      after: `<script>
        tracker.log(1);
        tracker.createContact({ contactEmailaddress: 'a@example.com', contactProfileID: '1' }, (result) => window.calledBack = result)
          .then((result) => window.resolved = result);
        tracker.log(2, { colour: 'red' });
      </script>`,
    });
    const page = await openPage(url);
    await page.waitForFunction(() => 'resolved' in window && 'calledBack' in window);
    await waitFor(() => expect(recorder.requests.map(({ path }) => path)).toEqual(['/update', '/form', '/update']));
    expect(
      await page.evaluate(() =>
        ['resolved', 'calledBack']
          .map((name) => (window as unknown as Record<string, ContactResult>)[name])
          .map((result) => [result?.exists, result?.contactUUID]),
      ),
    ).toEqual([
      [false, 'contact_1'],
      [false, 'contact_1'],
    ]);
    expect(recorder.requests[1]?.body).toMatchObject({
      tokenUUID: 'browser_test',
      userUUID: recorder.requests[0]?.body.userUUID,
      requestUUID: expect.stringMatching(/^[\w-]{20}$/),
      contactEmailaddress: 'a@example.com',
    });
  });

  test('sends events logged together in one text/plain request, without a preflight or cookies', async () => {
    const page = await openPage(publish('/'));
    const before = Date.now();
    await page.evaluate(() => {
      tracker.log(7, {
        text: 'é "quoted" \\ \n 🎉 \0 \ud800',
        number: 1.5,
        yes: true,
        when: new Date(0),
        nothing: null,
      });
      tracker.log('8', [{ attrID: 'a', attrValue: 'b' }]);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([7, 8]));
    expect(recorder.requests).toHaveLength(1);
    const [{ headers, method, body }] = recorder.requests as [(typeof recorder.requests)[0]];
    expect([method, headers['content-type'], headers.cookie]).toEqual(['POST', 'text/plain;charset=UTF-8', undefined]);
    expect(body.sentTime).toBeGreaterThanOrEqual(before);
    expect(body.event?.[0]).toEqual({
      eventID: 7,
      eventUUID: expect.stringMatching(/^[a-z0-9]{10}[\w-]{10}$/),
      eventTime: expect.any(Number),
      eventAttrArray: [
        { attrID: 'text', attrValue: 'é "quoted" \\ \n 🎉  \ufffd' },
        { attrID: 'number', attrValue: '1.5' },
        { attrID: 'yes', attrValue: 'true' },
        { attrID: 'when', attrValue: '1970-01-01T00:00:00.000Z' },
      ],
    });
    expect(Math.abs((body.event?.[0]?.eventTime ?? 0) - before)).toBeLessThan(2_000);
  });

  test('sends events by name and, without debug mode, warns only once about calls without an event', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      tracker.log('Signed up');
      for (const invalid of [undefined, undefined, {}, 0]) tracker.log(invalid as never);
      tracker.log('9');
    });
    await waitFor(() => expect(recorder.requests).toHaveLength(1));
    expect(recorder.requests[0]?.body.event).toMatchObject([{ eventName: 'Signed up' }, { eventID: 9 }]);
    await waitFor(() => expect(consoleTexts.filter((text) => text.includes('no eventID'))).toHaveLength(1));
  });

  test('rejects the promise when createContact is refused, without an unhandled rejection in the page', async () => {
    recorder.respond = ({ path }) =>
      path === '/form'
        ? {
            status: 400,
            body: {
              status: '400',
              error: { code: 'invalid_field', message: 'is not an address', field: 'contactEmailaddress' },
            },
          }
        : undefined;
    const contact = `{ contactEmailaddress: 'x', contactProfileID: '1' }`;
    recorder.scriptDelayMilliseconds = 200;
    const page = await openPage(publish('/', { after: `<script>tracker.createContact(${contact})</script>` }));
    const refusal = await page.evaluate(async () => {
      tracker.createContact({ contactEmailaddress: 'y', contactProfileID: '1' });
      let calledBack: TrackerError | undefined;
      const error = await tracker
        .createContact({ contactEmailaddress: 'z', contactProfileID: '1' }, (_, error) => {
          calledBack = error;
        })
        .then(
          () => {},
          (error: TrackerError) => error,
        );
      return [error instanceof Error, error?.code, error?.field, error?.message, calledBack === error];
    });
    expect(refusal).toEqual([true, 'invalid_field', 'contactEmailaddress', 'is not an address', true]);
    expect(recorder.requests).toHaveLength(3);
    await pause(300);
    expect(await countQueued(page)).toBe(0);
  });

  test('never throws, whatever the arguments, and in debug mode warns about everything it drops', async () => {
    const page = await openPage(publish('/', { attributes: 'data-debug' }));
    await page.evaluate(async () => {
      const log = tracker.log as (...args: unknown[]) => void;
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      const throwing = {
        get bad() {
          throw new Error('getter');
        },
        good: 'kept',
      };
      const hostile = new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('proxy');
          },
        },
      );
      for (const eventID of [0, -1, 1.5, 2 ** 31, NaN, ' ', null, undefined, {}, Symbol('s'), 0n, () => {}])
        log(eventID);
      const oddValues = [
        null,
        5,
        'text',
        cycle,
        throwing,
        hostile,
        document.body,
        () => {},
        [null, 1, {}, { attrID: 'a' }],
        { f: () => {}, s: Symbol('s'), big: 2n ** 70n, node: document.body, date: new Date(NaN) },
      ];
      for (const attrs of oddValues) log(9, attrs);
      const createContact = tracker.createContact as (...args: unknown[]) => Promise<unknown>;
      for (const fields of [null, undefined, hostile]) await createContact(fields).catch(() => {});
      createContact(throwing, 'no function');
      createContact({ contactAttr: cycle, contactEmailaddress: document.body });
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual(Array(10).fill(9)));
    const attributes = recorder.events().flatMap(({ eventAttrArray }) => eventAttrArray ?? []);
    expect(attributes).toEqual([
      { attrID: 'value', attrValue: '5' },
      { attrID: 'value', attrValue: 'text' },
      { attrID: 'good', attrValue: 'kept' },
      { attrID: 'big', attrValue: String(2n ** 70n) },
    ]);
    expect(consoleTexts.filter((text) => text.includes('no eventID')).length).toBe(10);
    expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: TypeError: .*circular.*self/s));
    expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: no text.*node/s));
  });
});
