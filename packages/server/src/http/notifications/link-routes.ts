/**
 * Serves the pages of the links in mails. A GET request changes nothing, because programs that check mails open every
 * link: the page has a button. A POST request is also what mail programs send for one-click unsubscribe (RFC 8058).
 */
import type { Context } from 'hono';
import type { Store } from '../../store/store.ts';
import type { Exchange } from '../responses/responses.ts';
import type { Route } from '../routes.ts';
import { simplePage } from '../simple-page.ts';
import { isSigned, type LinkPurpose, linkPath } from './links.ts';

interface Texts {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly done: { readonly title: string; readonly text: string };
}

const texts: Readonly<Record<LinkPurpose, Texts>> = {
  unsubscribe: {
    title: 'Stop these mails?',
    text: 'You will no longer receive this digest or alert. You can subscribe again in the settings of the console.',
    button: 'Unsubscribe',
    done: { title: 'You are unsubscribed', text: 'You will not receive this digest or alert again.' },
  },
  confirm: {
    title: 'Confirm your e-mail address',
    text: 'Digests and alerts that you or others in your team set up will be sent to this address.',
    button: 'Confirm',
    done: { title: 'Your address is confirmed', text: 'You will receive the next digest or alert.' },
  },
};

const invalid = { title: 'This link is no longer valid', text: 'Manage your mails in the settings of the console.' };

interface Dependencies {
  readonly store: Pick<Store, 'getDatabaseKey' | 'setRecipient' | 'confirmMember'>;
  readonly now: () => number;
}

export const createMailLinkRoutes = ({
  store,
  now,
}: Dependencies): readonly { readonly path: string; readonly route: Route }[] => {
  const change = (purpose: LinkPurpose, notificationID: string, memberID: string): Promise<boolean> =>
    purpose === 'unsubscribe'
      ? store.setRecipient({ notificationID, memberID, isRecipient: false, time: now() })
      : store.confirmMember({ memberID, time: now() });

  const respond = async (purpose: LinkPurpose, c: Context, exchange: Exchange): Promise<Response> => {
    const { notificationID = '', memberID = '', signature = '' } = c.req.param() as Record<string, string>;
    const { title, text, button, done } = texts[purpose];
    if (!isSigned(await store.getDatabaseKey(), purpose, { notificationID, memberID, signature }))
      return simplePage(exchange, 404, invalid);
    if (c.req.method !== 'POST') return simplePage(exchange, 200, { title, text, button });
    const isDone = await change(purpose, notificationID, memberID);
    return isDone ? simplePage(exchange, 200, done) : simplePage(exchange, 404, invalid);
  };

  return (['unsubscribe', 'confirm'] as const).map((purpose) => ({
    path: linkPath(purpose),
    route: {
      name: 'mail links',
      methods: ['GET', 'POST'],
      loggedPath: `/console/${purpose}/…`,
      handle: (c, exchange) => respond(purpose, c, exchange),
    },
  }));
};
