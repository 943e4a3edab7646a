/** Fills a release's data file with some of everything that the first release's API could write. */
import type { Call, Question } from './release.ts';

const userOf = (number: number) => `visitor-number-${String(number).padStart(3, '0')}`;
const users = 24;
const days = ['2026-09-30', '2026-10-01', '2026-10-15', '2026-11-02'];

const get = (path: string, input: Question['input']): Question => ({ path, method: 'GET', input });
const post = (path: string, input: Question['input']): Question => ({ path, method: 'POST', input });

const eventsOf = (user: number) =>
  Array.from({ length: 30 }, (_, nth) => ({
    eventID: 1 + ((user + nth) % 7),
    eventUUID: `event-${user}-${nth}-of-a-release`,
    eventTime: `${days[nth % days.length]}T${String(nth % 24).padStart(2, '0')}:15:00Z`,
    eventAttrArray: [
      { attrID: 'page', attrValue: `/page-${nth % 5}` },
      ...(nth % 3 === 0 ? [{ attrID: 'price', attrValue: String(10 * nth) }] : []),
      ...(nth % 11 === 0 ? [{ attrID: 'note', attrValue: `Grüße 👋 ${'x'.repeat(nth * 5)}` }] : []),
    ],
  }));

/**
 * Fills an empty account, and returns the contactUUIDs. Later rules about claims after verified links don't affect this
 * data.
 */
export const fill = async (asServer: Call, asPage: Call): Promise<string[]> => {
  const callOrThrow = async (call: Call, question: Question) => {
    const answer = await call(question);
    if (answer.status !== '200') throw new Error(`${question.path} was refused: ${JSON.stringify(answer)}`);
    return answer;
  };
  const write = (path: string, input: Question['input']) => callOrThrow(asServer, post(path, input));
  const account = {
    accountTimezone: 'Europe/Berlin',
    profile: [{ profileID: 'customer', profileName: 'Customer' }],
    tag: [{ tagID: 'vip', tagName: 'Very important', browser: false }],
    event: [{ eventID: 3, eventName: 'Teapot viewed' }],
  };
  await write('/account/updateAccount', account);
  for (let user = 0; user < users; user += 1) {
    await write('/event/logEvents', { userUUID: userOf(user), import: true, event: eventsOf(user) });
  }
  const contacts: string[] = [];
  for (let user = 0; user < 8; user += 1) {
    const { contactUUID } = await write('/contact/createContact', {
      userUUID: userOf(user),
      contactEmailaddress: `person-${user}@shop.example`,
      contactFirstname: `Person ${user}`,
      contactProfileID: 'customer',
      contactTagID: user % 2 ? 'vip,newsletter' : '',
      contactAttr: [{ attrID: 'size', attrValue: String(user) }],
    });
    contacts.push(String(contactUUID));
  }
  const [first = '', second = '', third = '', fourth = ''] = contacts;
  for (let user = 8; user < 10; user += 1) {
    await callOrThrow(
      asPage,
      post('/createContact', {
        userUUID: userOf(user),
        contactEmailaddress: `person-${user - 8}@shop.example`,
        contactJobRole: `Painter ${user}`,
        contactProfileID: 'customer',
      }),
    );
    await callOrThrow(
      asPage,
      post('/event/logEvent', { userUUID: userOf(user), eventID: 3, eventUUID: `page-event-${user}` }),
    );
  }
  await write('/contact/linkUser', { userUUID: userOf(12), contactUUID: first });
  const { linkID } = await write('/contact/linkUser', { userUUID: userOf(13), contactUUID: second });
  await write('/event/logEvent', { userUUID: userOf(13), eventID: 2, eventUUID: 'before-the-void' });
  await write('/contact/voidLink', { linkID });
  await write('/contact/linkUser', { userUUID: userOf(14), contactUUID: third });
  await write('/contact/unlinkUser', { userUUID: userOf(14) });
  await write('/event/logEvent', { userUUID: userOf(14), eventID: 2, eventUUID: 'after-the-unlink' });
  await write('/event/logEvent', { contactUUID: fourth, eventID: 6, eventUUID: 'of-a-contact-only' });
  await write('/contact/mergeContact', { contactUUID: third, otherContactUUID: fourth });
  await write('/contact/mergeContact', { contactUUID: first, otherContactUUID: contacts[4] });
  await write('/contact/unmergeContact', { otherContactUUID: contacts[4] });
  await write('/contact/updateContact', {
    contactUUID: second,
    contactTelephone: '020 7946 0000',
    contactFirstname: null,
  });
  await write('/contact/eraseContact', { contactUUID: contacts[5] });
  await write('/event/logEvent', { userUUID: userOf(1), eventID: 1, eventUUID: 'event-1-0-of-a-release' });
  return contacts;
};

/** The requests that the first release supported. `contacts` are the contactUUIDs in its data file. */
export const listQuestions = (contacts: readonly string[]): Question[] => {
  const questions = [
    get('/account/getAccount', {}),
    get('/event/getEvent', { limit: 1_000, order: 'asc', include: 'why' }),
    get('/event/getEvent', { limit: 50 }),
    get('/event/getEvent', { attrID: 'page', attrValue: '/page-2', limit: 1_000 }),
    get('/event/getEvent', { from: '2026-10-01T00:00:00Z', to: '2026-10-02T00:00:00Z', limit: 1_000 }),
    get('/event/getEvent', { eventID: 3, limit: 1_000 }),
    get('/contact/searchContact', { contactTagID: 'vip' }),
    get('/contact/searchContact', { text: 'person' }),
  ];
  for (const interval of ['day', 'week', 'month']) {
    questions.push(get('/event/countEvents', { from: '2026-09-29', to: '2026-11-05', interval, include: 'users' }));
  }
  for (let user = 0; user < users; user += 1)
    questions.push(get('/event/getEvent', { userUUID: userOf(user), limit: 20 }));
  for (const contactUUID of contacts) {
    questions.push(
      get('/contact/getContact', { contactUUID, include: 'claim,link' }),
      get('/event/getEvent', { contactUUID, limit: 1_000, order: 'asc' }),
      post('/contact/exportContact', { contactUUID, limit: 30 }),
    );
  }
  return questions;
};
