/** Labels: attributes of an event that the service makes from the request of a browser token. No client can set them. */

export const labelIDs = { browser: '$browser', os: '$os', device: '$device', country: '$country' } as const;

const allLabelIDs: ReadonlySet<string> = new Set(Object.values(labelIDs));

/** Whether an attribute of an event is a label, by its attrID. Other attrIDs may begin with `$` too. */
export const isLabelID = (attrID: string): boolean => attrID.startsWith('$') && allLabelIDs.has(attrID);
