/** The page view attributes that reports read by name. */

/** The path of a page. */
export const pathAttrID = 'path';
/** The URL of the previous page. */
export const referrerAttrID = 'referrer';
