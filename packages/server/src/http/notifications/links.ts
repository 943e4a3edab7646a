/** The signed links in mails: they unsubscribe a member, or confirm a member's address. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type LinkPurpose = 'unsubscribe' | 'confirm';

interface LinkSubject {
  readonly notificationID: string;
  readonly memberID: string;
}

const sign = (databaseKey: Uint8Array, purpose: LinkPurpose, { notificationID, memberID }: LinkSubject): string =>
  createHmac('sha256', databaseKey).update(`mail ${purpose} ${notificationID} ${memberID}`).digest('base64url');

/** The path of the links, with the parameters of a route. */
export const linkPath = (purpose: LinkPurpose): string => `/console/${purpose}/:notificationID/:memberID/:signature`;

/** Returns the link. `root` is the base URL of the console, without a trailing slash. */
export const toLink = (root: string, databaseKey: Uint8Array, purpose: LinkPurpose, subject: LinkSubject): string =>
  `${root}/console/${purpose}/${subject.notificationID}/${subject.memberID}/${sign(databaseKey, purpose, subject)}`;

export const isSigned = (
  databaseKey: Uint8Array,
  purpose: LinkPurpose,
  { signature, ...subject }: LinkSubject & { readonly signature: string },
): boolean => {
  const [expected, actual] = [sign(databaseKey, purpose, subject), signature].map((text) => Buffer.from(text));
  return actual?.length === expected?.length && timingSafeEqual(actual as Buffer, expected as Buffer);
};
