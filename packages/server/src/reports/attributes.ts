/** What page views say of themselves: the attributes that reports read by name. */

/** The path of a page. */
export const pathAttrID = 'path';
/** The address of the page before. */
export const referrerAttrID = 'referrer';
