/** Reads the visitor's consent from the tag's options, the browser's signals and the cookie. */
import { readCookie } from './cookie.ts';
import { isUserUUID, useMarkedUserUUIDs } from './identity.ts';

/**
 * Whether this visitor may be tracked before the page calls `consent`. If consent is required, the cookie records that
 * the visitor has given it.
 *
 * If the browser sends a privacy signal (Global Privacy Control; Do Not Track if the site respects it), only a cookie
 * created by `consent(true)` under that signal counts.
 */
export const hasInitialConsent = (options: { readonly [name in 'consent' | 'dnt']?: string | undefined }): unknown =>
  (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl ||
  ('dnt' in options && +(navigator.doNotTrack as string))
    ? useMarkedUserUUIDs() && isUserUUID(readCookie()) && (readCookie() as string)[21]
    : 'consent' in options
      ? isUserUUID(readCookie())
      : true;
