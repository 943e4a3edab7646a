/** Reads the visitor's consent from the tag's options, the browser's signals and the cookie. */
import { readCookie } from './cookie.ts';
import { isUserUUID, markUsers } from './identity.ts';

/**
 * Whether this visitor may be tracked before `consent` is called on this page. If consent is required, the cookie is the remembered
 * consent. If the browser sends a signal (Global Privacy Control; Do Not Track if the site respects it), only a cookie made by
 * `consent(true)` under that signal counts.
 */
export const isConsentRemembered = (options: { readonly [name in 'consent' | 'dnt']?: string | undefined }): unknown =>
  (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl ||
  ('dnt' in options && +(navigator.doNotTrack as string))
    ? markUsers() && isUserUUID(readCookie()) && (readCookie() as string)[21]
    : 'consent' in options
      ? isUserUUID(readCookie())
      : true;
