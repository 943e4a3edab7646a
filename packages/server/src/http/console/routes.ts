/**
 * Routes for the console's own requests: sign-in and sign-out, invitations, password changes, passkeys and the sample
 * shop.
 */
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';
import { isLocal } from '../access/loopback.ts';
import type { RateLimit } from '../access/rate-limits.ts';
import type { Admit } from '../request/admission.ts';
import { type RequestFields, readInput } from '../request/input.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import { type Exchange, jsonResponse } from '../responses/responses.ts';
import type { Route } from '../routes.ts';
import { hasConsoleHeader, isFromConsole, sessionCookie } from './cookie.ts';
import { requiredText } from './form-fields.ts';
import type { Invitations } from './invitations.ts';
import type { MemberPasswords } from './member-passwords.ts';
import { createPageSessions } from './page-sessions.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { createPasskeyHandlers } from './passkeys/routes.ts';
import { createSampleShopHandlers, type SampleShop } from './sample-shop.ts';
import type { Sessions } from './sessions.ts';
import type { SignIn } from './sign-in.ts';

interface Dependencies {
  readonly store: Pick<
    Store,
    'listPasskeys' | 'addPasskey' | 'removePasskey' | 'listMembers' | 'changePassword' | 'setRecipient'
  >;
  readonly signIn: SignIn;
  readonly memberPasswords: Pick<MemberPasswords, 'hashNewPassword'>;
  readonly invitations: Invitations;
  readonly passkeys: Passkeys;
  /** Counts added passkeys, by memberID. */
  readonly passkeyAdditions: Pick<RateLimit, 'take'>;
  readonly sessions: Sessions;
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  /** The origin whose pages may sign in, in addition to pages on this machine. */
  readonly consoleOrigin: string | undefined;
  readonly sampleShop: SampleShop | undefined;
  /** Whether the server sends mails. */
  readonly mail: boolean;
  readonly now: () => number;
}

type PostHandler = (c: Context, exchange: Exchange, fields: RequestFields) => Promise<Response>;

const checkSender = ({ headers }: Request): void => {
  if (isFromConsole(headers)) return;
  throw new Refusal('origin_not_allowed', { message: 'only console pages may send this request' });
};

/** Throws a Refusal if this page is not allowed to get a cookie, before doing any work for it. */
const checkPage = ({ headers, url }: Request, consoleOrigin: string | undefined): void => {
  if (sessionCookie(headers, [], consoleOrigin) === undefined) {
    const message =
      consoleOrigin === undefined
        ? "the console works only on the server's own machine; set CONSOLE_ORIGIN to use it from elsewhere"
        : `this server's console is at ${consoleOrigin}`;
    throw new Refusal('origin_not_allowed', { message });
  }
  if (new URL(url).search === '') return;
  throw new Refusal('invalid_field', { message: 'send the token in the body, not in the URL: URLs end up in logs' });
};

export const createConsoleRoutes = ({
  store,
  signIn,
  memberPasswords,
  invitations,
  passkeys,
  passkeyAdditions: additions,
  sessions,
  admit,
  budgetOf,
  consoleOrigin,
  sampleShop,
  mail,
  now,
}: Dependencies): readonly { readonly path: string; readonly route: Route }[] => {
  const pageSessions = createPageSessions({ sessions, consoleOrigin, now });
  const { memberOfPage, signInAs } = pageSessions;
  const passkeyHandlers = createPasskeyHandlers({
    ...{ store, passkeys, additions, invitations, sessions, pageSessions, now },
  });
  const shopHandlers = sampleShop && createSampleShopHandlers({ shop: sampleShop, sessions, pageSessions });

  const changePassword: PostHandler = async (c, exchange, fields) => {
    const { memberID, account, by } = await memberOfPage(c);
    const password = await memberPasswords.hashNewPassword(fields, c, { account, memberID });
    await store.changePassword({ account, memberID, password, by, time: now() });
    return jsonResponse(exchange, { status: '200' });
  };

  /** Adds the page's member to the recipients of a notification, or removes it. */
  const subscribe: PostHandler = async (c, exchange, fields) => {
    const session = await pageSessions.ofPage(c);
    const member = await sessions.memberOf(session);
    if (!member) {
      const message = 'only members can subscribe; this session was started with a token';
      throw new Refusal('token_kind', { message });
    }
    const isRecipient = fields.subscribed === true;
    if (isRecipient && !mail) throw new Refusal('no_mail');
    const { account } = session.access;
    const notificationID = requiredText(fields, 'notificationID');
    const change = { account, notificationID, memberID: member.memberID, isRecipient, time: now() };
    if (!(await store.setRecipient(change))) throw new Refusal('unknown_notification', { field: 'notificationID' });
    return jsonResponse(exchange, { status: '200' });
  };

  /**
   * Returns the browser's sessions. Having none is not an error, because the browser would log an error to its console.
   */
  const getSession = async (c: Context, exchange: Exchange): Promise<Response> => {
    const open = (await sessions.ofBrowser(c)).map(({ access }) => access);
    const summaries = await sessions.describe(open);
    const { headers } = c.req.raw;
    const session = summaries.find(({ sessionID }) => hasConsoleHeader(headers, sessionID)) ?? summaries[0] ?? null;
    const sample = shopHandlers && isLocal(c) && { sampleShop: await shopHandlers.describe(summaries) };
    return jsonResponse(exchange, { session, sessions: summaries, ...sample, status: '200' });
  };

  const name = 'console';
  const post = (path: string, handle: PostHandler) => ({
    path,
    route: {
      name,
      methods: ['POST'],
      handle: (c, exchange) =>
        admit(c, async (source) => {
          checkSender(c.req.raw);
          return handle(c, exchange, await readInput(c.req.raw, limits.bodyBytes, source, budgetOf(c)));
        }),
    } satisfies Route,
  });

  /** Like `post`, but only for pages that are allowed to get the cookie. */
  const postOfPage = (path: string, handle: PostHandler) =>
    post(path, async (c, exchange, fields) => {
      checkPage(c.req.raw, consoleOrigin);
      return handle(c, exchange, fields);
    });

  const get = (path: string, handle: Route['handle']) => ({
    path,
    route: { name, methods: ['GET'], handle } satisfies Route,
  });

  return [
    postOfPage('/console/sign-in', async (c, exchange, fields) => signInAs(c, exchange, await signIn.find(fields, c))),
    postOfPage('/console/invitation', async (c, exchange, fields) =>
      jsonResponse(exchange, { invitation: await invitations.describe(fields, c), status: '200' }),
    ),
    postOfPage('/console/accept', async (c, exchange, fields) =>
      signInAs(c, exchange, [await invitations.join(fields, c)]),
    ),
    postOfPage('/console/password', changePassword),
    postOfPage('/console/subscribe', subscribe),
    postOfPage('/console/passkeys/to-sign-in', passkeyHandlers.toSignIn),
    postOfPage('/console/passkeys/to-join', passkeyHandlers.toJoin),
    postOfPage('/console/passkeys/to-add', passkeyHandlers.toAdd),
    postOfPage('/console/passkeys/add', passkeyHandlers.add),
    postOfPage('/console/passkeys/remove', passkeyHandlers.remove),
    get('/console/passkeys', passkeyHandlers.list),
    post('/console/sign-out', pageSessions.signOut),
    ...(shopHandlers
      ? [
          post('/console/sample-shop', shopHandlers.open),
          get('/console/sample-shop/progress', shopHandlers.progress),
          post('/console/sample-shop/remove', shopHandlers.remove),
        ]
      : []),
    get('/console/session', getSession),
  ];
};
