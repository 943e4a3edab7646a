/** Whether this visitor may be known. */
import { readCookie } from './cookie.ts';
import { isUserUUID, markUsers } from './identity.ts';
import type { TagOptions } from './tracker.ts';

/**
 * Whether this visitor may be known before a word was said on this page. Where consent is required, the cookie is the
 * remembered consent. Against a signal (Global Privacy Control; Do Not Track where the site heeds it) only a cookie counts
 * that was made by the visitor's own word under that signal.
 */
export const isConsentRemembered = (options: TagOptions): unknown =>
  (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl ||
  ('dnt' in options && +(navigator.doNotTrack as string))
    ? markUsers() && isUserUUID(readCookie()) && (readCookie() as string)[21]
    : !('consent' in options) || isUserUUID(readCookie());
