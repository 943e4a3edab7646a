/** Whether this visitor may be known. */
import { readCookie } from './cookie.ts';
import { isUserUUID, markUsers } from './identity.ts';

/**
 * Whether this visitor may be known before a word was said on this page. Where consent is required, the cookie is the
 * remembered consent. Against a signal (Global Privacy Control; Do Not Track where the site heeds it) only a cookie counts
 * that was made by the visitor's own word under that signal.
 */
export const isConsentRemembered = (isRequired: boolean, heedsDoNotTrack: boolean): boolean => {
  const isSignalled =
    (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl ||
    (heedsDoNotTrack && navigator.doNotTrack === '1');
  if (isSignalled) markUsers();
  return (
    (!isRequired && !isSignalled) || (isUserUUID(readCookie()) && (!isSignalled || !!(readCookie() as string)[21]))
  );
};
